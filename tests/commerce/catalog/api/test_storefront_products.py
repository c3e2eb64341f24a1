"""products.json and products/{id}.json of the storefront."""

import pytest

from accounts.operations import create_market
from tests.commerce.refusals import field_errors, refusal
from tests.factories import make_product, make_variant, set_price


@pytest.fixture
def swiss_market(shop):
    with shop.scope():
        return create_market(
            fields={
                "handle": "ch",
                "name": "Switzerland",
                "currency": "CHF",
                "locale": "de-CH",
                "country_code": "CH",
            }
        )


def test_get_product_shows_the_prices_of_the_market(shop, swiss_market):
    variant = make_variant(
        shop, product=make_product(shop, description="Of cotton"), sku="S-1", title="Small", price_cents=1990
    )
    set_price(shop, variant, 2190, market=swiss_market, currency="CHF", compare_at_price_cents=2990)

    answer = shop.storefront.get(f"products/{variant.product_id}.json?market_id={swiss_market.pk}")

    assert answer.status_code == 200
    assert answer.json()["product"] == {
        "id": str(variant.product_id),
        "handle": variant.product.handle,
        "title": variant.product.title,
        "description": "Of cotton",
        "variants": [
            {
                "id": str(variant.pk),
                "sku": "S-1",
                "title": "Small",
                "weight_grams": 500,
                "pricing": [
                    {
                        "market_id": str(swiss_market.pk),
                        "currency": "CHF",
                        "price_cents": "2190",
                        "compare_at_price_cents": "2990",
                    }
                ],
            }
        ],
    }


def test_get_product_without_a_market_shows_all_prices(shop, swiss_market):
    variant = make_variant(shop, price_cents=1990)
    set_price(shop, variant, 2190, market=swiss_market, currency="CHF")

    answer = shop.storefront.get(f"products/{variant.product_id}.json")

    (shown,) = answer.json()["product"]["variants"]
    assert [price["price_cents"] for price in shown["pricing"]] == ["1990", "2190"]


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_products_not_on_sale_are_not_shown(shop, status):
    product = make_product(shop)
    shop.admin.put(f"products/{product.pk}.json", {"status": status})

    assert refusal(shop.storefront.get(f"products/{product.pk}.json")) == (404, "not_found")
    assert shop.storefront.get("products.json").json() == {"products": [], "next_cursor_id": None}


def test_archived_variants_are_not_shown(shop):
    variant = make_variant(shop)
    shop.admin.delete(f"variants/{variant.pk}.json")

    answer = shop.storefront.get(f"products/{variant.product_id}.json")

    assert answer.json()["product"]["variants"] == []


def test_products_of_another_shop_are_not_shown(shop, other_shop):
    product = make_product(other_shop)

    assert shop.storefront.get(f"products/{product.pk}.json").status_code == 404
    assert shop.storefront.get("products.json").json()["products"] == []


def test_list_products_finds_one_by_its_handle(shop):
    make_product(shop)
    product = make_product(shop, handle="shirt")

    answer = shop.storefront.get("products.json?handle=shirt")

    assert [shown["id"] for shown in answer.json()["products"]] == [str(product.pk)]


def test_list_products_refuses_a_market_that_is_no_id(shop):
    answer = shop.storefront.get("products.json?market_id=germany")

    assert field_errors(answer) == [("market_id", "invalid")]


@pytest.mark.parametrize("number", [1, 3])
def test_list_products_takes_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    for _ in range(number):
        product = make_product(shop)
        for _ in range(number):
            make_variant(shop, product=product)
    shop.storefront.get("products.json")

    with django_assert_num_queries(7):
        answer = shop.storefront.get(f"products.json?market_id={shop.market.pk}&limit=2")

    assert len(answer.json()["products"]) == min(number, 2)
