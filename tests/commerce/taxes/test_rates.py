from commerce.taxes.models import TaxRate
from commerce.taxes.queries import rates_for
from tests.commerce.refusals import refused_constraint
from tests.factories import make_tax_rate


def test_rates_of_a_country_by_class_in_one_statement(shop, other_shop, django_assert_num_queries):
    make_tax_rate(shop, 1900)
    make_tax_rate(shop, 700, tax_class="reduced")
    make_tax_rate(shop, 2000, country_code="AT")
    make_tax_rate(other_shop, 1600)

    with shop.scope(), django_assert_num_queries(1):
        rates = rates_for("DE")

    assert rates == {"standard": 1900, "reduced": 700}


def test_a_country_without_rates_has_none(shop):
    with shop.scope():
        assert rates_for("DE") == {}


def test_a_rate_is_at_most_all_of_the_price(shop):
    make_tax_rate(shop)

    with shop.scope():
        assert refused_constraint(lambda: TaxRate.objects.update(rate_bp=10_001)) == "tax_rates_rate"


def test_a_country_has_one_rate_of_a_class(shop):
    make_tax_rate(shop)

    assert refused_constraint(lambda: make_tax_rate(shop)) == "tax_rates_class"
