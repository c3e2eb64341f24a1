"""variants/{id}/pricing/{market_id}.json."""

import pytest

from commerce.catalog.models import VariantPricing
from commerce.formats import timestamp
from tests.commerce.refusals import field_errors, refusal
from tests.factories import make_variant


@pytest.fixture
def variant(shop):
    return make_variant(shop, price_cents=None)


def path_of(variant, market):
    return f"variants/{variant.pk}/pricing/{market.pk}.json"


def prices_of(shop, variant):
    with shop.scope():
        rows = VariantPricing.objects.filter(variant=variant)
        return list(rows.values_list("currency", "price_cents", "compare_at_price_cents"))


def test_put_pricing_is_in_the_markets_currency_unless_said(shop, variant):
    answer = shop.admin.put(path_of(variant, shop.market), {"price_cents": 1990})

    assert answer.status_code == 200
    with shop.scope():
        row = VariantPricing.objects.get(variant=variant)
    assert answer.json()["variant_pricing"] == {
        "variant_id": str(variant.pk),
        "market_id": str(shop.market.pk),
        "currency": "EUR",
        "price_cents": "1990",
        "compare_at_price_cents": None,
        "updated_at": timestamp(row.updated_at),
    }


def test_put_pricing_again_replaces_it(shop, variant):
    first = {"currency": "CZK", "price_cents": 1990, "compare_at_price_cents": 2990}
    shop.admin.put(path_of(variant, shop.market), first)
    assert prices_of(shop, variant) == [("CZK", 1990, 2990)]

    shop.admin.put(path_of(variant, shop.market), {"price_cents": 0})

    assert prices_of(shop, variant) == [("EUR", 0, None)]


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({}, "price_cents", "required"),
        ({"price_cents": None}, "price_cents", "null"),
        ({"price_cents": -1}, "price_cents", "min_value"),
        ({"price_cents": 1.5}, "price_cents", "invalid"),
        ({"price_cents": 1, "currency": None}, "currency", "null"),
        ({"price_cents": 1, "compare_at_price_cents": "x"}, "compare_at_price_cents", "invalid"),
    ],
)
def test_put_pricing_refuses_bad_fields(shop, variant, body, field, code):
    answer = shop.admin.put(path_of(variant, shop.market), body)

    assert field_errors(answer) == [(field, code)]
    assert prices_of(shop, variant) == []


def test_put_pricing_of_a_foreign_variant_or_market_is_not_found(shop, other_shop, variant):
    foreign = make_variant(other_shop, price_cents=None)

    assert refusal(shop.admin.put(path_of(foreign, shop.market), {"price_cents": 1})) == (404, "not_found")
    assert refusal(shop.admin.put(path_of(variant, other_shop.market), {"price_cents": 1})) == (
        404,
        "not_found",
    )
    assert prices_of(shop, variant) == prices_of(other_shop, foreign) == []


def test_get_pricing_answers_what_was_put(shop, variant):
    put = shop.admin.put(path_of(variant, shop.market), {"price_cents": 1990})

    answer = shop.admin.get(path_of(variant, shop.market))

    assert answer.status_code == 200
    assert answer.json() == put.json()


def test_get_pricing_without_a_price_is_not_found(shop, variant):
    assert refusal(shop.admin.get(path_of(variant, shop.market))) == (404, "not_found")
