"""tax_rates.json and tax_rates/{id}.json."""

import pytest

from commerce.formats import timestamp
from commerce.taxes.models import TaxRate
from tests.commerce.refusals import field_errors, refusal
from tests.factories import make_tax_rate

STANDARD = {"country_code": "DE", "rate_bp": 1900}


def rates_of(shop):
    with shop.scope():
        return list(TaxRate.objects.order_by("pk").values_list("country_code", "tax_class", "rate_bp"))


def test_create_tax_rate_is_of_the_standard_class_unless_said(shop):
    answer = shop.admin.post("tax_rates.json", {"country_code": "de", "rate_bp": 1900})

    assert answer.status_code == 201
    with shop.scope():
        row = TaxRate.objects.get()
    assert answer.json()["tax_rate"] == {
        "id": str(row.pk),
        "country_code": "DE",
        "tax_class": "standard",
        "rate_bp": 1900,
        "name": "",
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
    }


def test_create_tax_rate_of_another_class_and_country(shop):
    body = {"country_code": "CZ", "tax_class": "reduced", "rate_bp": 0, "name": "Snížená sazba"}

    answer = shop.admin.post("tax_rates.json", body)

    assert answer.status_code == 201
    assert answer.json()["tax_rate"]["name"] == "Snížená sazba"
    assert rates_of(shop) == [("CZ", "reduced", 0)]


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"country_code": "XX"}, "country_code", "unknown_country"),
        ({"country_code": None}, "country_code", "null"),
        ({"rate_bp": 10_001}, "rate_bp", "max_value"),
        ({"rate_bp": -1}, "rate_bp", "min_value"),
        ({"rate_bp": 19.0}, "rate_bp", "invalid"),
        ({"rate_bp": "1900"}, "rate_bp", "invalid"),
        ({"tax_class": "Reduced rate"}, "tax_class", "invalid_token"),
        ({"name": "a" * 101}, "name", "max_length"),
    ],
)
def test_create_tax_rate_refuses_bad_fields(shop, changes, field, code):
    answer = shop.admin.post("tax_rates.json", STANDARD | changes)

    assert field_errors(answer) == [(field, code)]
    assert rates_of(shop) == []


def test_create_tax_rate_refuses_a_second_one_of_a_class(shop):
    make_tax_rate(shop, 1900)

    answer = shop.admin.post("tax_rates.json", STANDARD | {"rate_bp": 700})

    assert refusal(answer) == (409, "tax_rate_exists")
    assert rates_of(shop) == [("DE", "standard", 1900)]


@pytest.mark.parametrize("number", [1, 3])
def test_list_tax_rates_is_newest_first(shop, other_shop, django_assert_num_queries, number):
    rates = [make_tax_rate(shop, tax_class=f"class-{index}") for index in range(number)]
    make_tax_rate(other_shop)
    shop.admin.get("tax_rates.json")

    with django_assert_num_queries(5):
        answer = shop.admin.get("tax_rates.json")

    assert [rate["id"] for rate in answer.json()["tax_rates"]] == [str(rate.pk) for rate in reversed(rates)]


def test_update_tax_rate_changes_only_what_is_sent(shop):
    rate = make_tax_rate(shop, 1900, tax_class="reduced")

    answer = shop.admin.put(f"tax_rates/{rate.pk}.json", {"rate_bp": 700})

    assert answer.status_code == 200
    assert rates_of(shop) == [("DE", "reduced", 700)]
    assert shop.admin.get(f"tax_rates/{rate.pk}.json").json() == answer.json()


def test_update_tax_rate_refuses_the_class_of_another(shop):
    make_tax_rate(shop, 1900)
    rate = make_tax_rate(shop, 700, tax_class="reduced")

    answer = shop.admin.put(f"tax_rates/{rate.pk}.json", {"tax_class": "standard"})

    assert refusal(answer) == (409, "tax_rate_exists")
    assert rates_of(shop) == [("DE", "standard", 1900), ("DE", "reduced", 700)]


def test_delete_tax_rate_is_final(shop):
    rate = make_tax_rate(shop)

    answer = shop.admin.delete(f"tax_rates/{rate.pk}.json")

    assert (answer.status_code, answer.content) == (204, b"")
    assert refusal(shop.admin.get(f"tax_rates/{rate.pk}.json")) == (404, "not_found")
    assert refusal(shop.admin.delete(f"tax_rates/{rate.pk}.json")) == (404, "not_found")


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_tax_rate_of_another_shop_is_not_found(shop, other_shop, method):
    rate = make_tax_rate(other_shop, 1900)

    assert refusal(getattr(shop.admin, method)(f"tax_rates/{rate.pk}.json")) == (404, "not_found")
    assert rates_of(other_shop) == [("DE", "standard", 1900)]
