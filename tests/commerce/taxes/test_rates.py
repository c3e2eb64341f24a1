from checkouts.models import Checkout
from commerce.taxes.models import TaxRate
from tests.commerce.refusals import refused_constraint
from tests.factories import make_tax_rate, make_variant
from tests.storefront import enter_checkout


def shipping_rate_bp(shop):
    """The rate at which a new checkout in Germany taxes shipping."""
    token = enter_checkout(shop, (make_variant(shop), 1))["token"]
    with shop.scope():
        return Checkout.objects.get(token=token).shipping_tax_rate_bp


def test_shipping_is_taxed_at_the_standard_rate_of_the_markets_country(shop, other_shop):
    make_tax_rate(shop, 1900)
    make_tax_rate(shop, 700, tax_class="reduced")
    make_tax_rate(shop, 2000, country_code="AT")
    make_tax_rate(other_shop, 1600)

    assert shipping_rate_bp(shop) == 1900


def test_a_country_without_rates_has_none(shop):
    make_tax_rate(shop, 700, tax_class="reduced")

    assert shipping_rate_bp(shop) == 0


def test_a_rate_is_at_most_all_of_the_price(shop):
    make_tax_rate(shop)

    with shop.scope():
        assert refused_constraint(lambda: TaxRate.objects.update(rate_bp=10_001)) == "tax_rates_rate"


def test_a_country_has_one_rate_of_a_class(shop):
    make_tax_rate(shop)

    assert refused_constraint(lambda: make_tax_rate(shop)) == "tax_rates_class"
