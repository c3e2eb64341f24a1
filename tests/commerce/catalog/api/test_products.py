"""products.json of the admin surface."""

import pytest

from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.formats import timestamp
from tests.commerce.refusals import field_errors, refusal
from tests.factories import make_product, make_variant

SHIRT = {"handle": "shirt", "title": "Shirt"}


def product_row(shop, product_id):
    with shop.scope():
        return Product.objects.get(pk=product_id)


def counts(shop) -> tuple[int, int, int]:
    with shop.scope():
        return Product.objects.count(), Variant.objects.count(), VariantPricing.objects.count()


def with_pricing(*prices, **fields):
    return SHIRT | {"variants": [{"sku": "S-1", "pricing": list(prices)} | fields]}


def test_create_product_with_handle_and_title_alone(shop):
    answer = shop.admin.post("products.json", SHIRT)

    assert answer.status_code == 201
    product = answer.json()["product"]
    row = product_row(shop, product["id"])
    assert product == {
        "id": str(row.pk),
        "handle": "shirt",
        "title": "Shirt",
        "description": "",
        "status": "active",
        "variants": [],
        "archived_at": None,
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
    }


def test_create_product_with_variants_and_prices(shop):
    market_id = str(shop.market.pk)
    body = SHIRT | {
        "description": "Of cotton",
        "status": "draft",
        "variants": [
            {
                "sku": "S-1",
                "title": "Small",
                "weight_grams": 250,
                "tax_class": "reduced",
                "track_inventory": False,
                "allow_backorder": True,
                "pricing": [
                    {
                        "market_id": shop.market.pk,
                        "currency": "czk",
                        "price_cents": 49_900,
                        "compare_at_price_cents": 59_900,
                    }
                ],
            },
            {"sku": "S-2", "pricing": [{"market_id": market_id, "price_cents": "1990"}]},
        ],
    }

    answer = shop.admin.post("products.json", body)

    assert answer.status_code == 201
    product = answer.json()["product"]
    assert (product["description"], product["status"]) == ("Of cotton", "draft")
    small, default = product["variants"]
    assert {name: small[name] for name in small.keys() - {"id", "created_at", "updated_at"}} == {
        "product_id": product["id"],
        "sku": "S-1",
        "title": "Small",
        "weight_grams": 250,
        "tax_class": "reduced",
        "track_inventory": False,
        "allow_backorder": True,
        "pricing": [
            {
                "market_id": market_id,
                "currency": "CZK",
                "price_cents": "49900",
                "compare_at_price_cents": "59900",
            }
        ],
        "archived_at": None,
    }
    assert (default["title"], default["weight_grams"], default["tax_class"]) == ("", 0, "standard")
    assert (default["track_inventory"], default["allow_backorder"]) == (True, False)
    assert default["pricing"] == [
        {"market_id": market_id, "currency": "EUR", "price_cents": "1990", "compare_at_price_cents": None}
    ]


@pytest.mark.parametrize("number", [1, 3])
def test_create_product_takes_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    price = {"market_id": shop.market.pk, "price_cents": 100}
    body = SHIRT | {"variants": [{"sku": f"S-{index}", "pricing": [price]} for index in range(number)]}
    shop.admin.get("products.json")

    # The scope takes 4; product, markets, variants, prices; then the answer is read in 3.
    with django_assert_num_queries(11):
        answer = shop.admin.post("products.json", body)

    assert answer.status_code == 201


def test_create_product_at_the_limits_is_stored_whole(shop):
    variants = [{"sku": f"S-{index}", "weight_grams": 100_000_000} for index in range(100)]
    variants[0]["pricing"] = [{"market_id": shop.market.pk, "price_cents": 100_000_000_000}]

    answer = shop.admin.post("products.json", SHIRT | {"variants": variants})

    assert answer.status_code == 201
    assert counts(shop) == (1, 100, 1)


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"handle": "Not a handle"}, "handle", "invalid_handle"),
        ({"handle": None}, "handle", "null"),
        ({"title": ""}, "title", "blank"),
        ({"title": 5}, "title", "invalid"),
        ({"title": "a\x00b"}, "title", "null_characters_not_allowed"),
        ({"title": "a" * 256}, "title", "max_length"),
        ({"description": None}, "description", "null"),
        ({"status": "archived"}, "status", "invalid_choice"),
        ({"status": ["active"]}, "status", "invalid_choice"),
        ({"variants": {"sku": "S-1"}}, "variants", "not_a_list"),
        ({"variants": ["S-1"]}, "variants.0", "invalid"),
        ({"variants": [{"sku": str(index)} for index in range(101)]}, "variants", "max_length"),
        ({"variants": [{}]}, "variants.0.sku", "required"),
        ({"variants": [{"sku": "S-1"}, {"sku": "a" * 65}]}, "variants.1.sku", "max_length"),
        ({"variants": [{"sku": "S-1", "weight_grams": -1}]}, "variants.0.weight_grams", "min_value"),
        ({"variants": [{"sku": "S-1", "weight_grams": 2**31}]}, "variants.0.weight_grams", "max_value"),
        ({"variants": [{"sku": "S-1", "weight_grams": 1.5}]}, "variants.0.weight_grams", "invalid"),
        ({"variants": [{"sku": "S-1", "tax_class": "No!"}]}, "variants.0.tax_class", "invalid_token"),
        ({"variants": [{"sku": "S-1", "track_inventory": 1}]}, "variants.0.track_inventory", "invalid"),
    ],
)
def test_create_product_refuses_bad_fields(shop, changes, field, code):
    answer = shop.admin.post("products.json", SHIRT | changes)

    assert field_errors(answer) == [(field, code)]
    assert counts(shop) == (0, 0, 0)


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"market_id": None}, "market_id", "null"),
        ({"market_id": 2**60}, "market_id", "max_value"),
        ({"price_cents": -1}, "price_cents", "min_value"),
        ({"price_cents": 100_000_000_001}, "price_cents", "max_value"),
        ({"price_cents": "12.50"}, "price_cents", "invalid"),
        ({"price_cents": True}, "price_cents", "invalid"),
        ({"compare_at_price_cents": -1}, "compare_at_price_cents", "min_value"),
        ({"currency": "XXX"}, "currency", "unknown_currency"),
    ],
)
def test_create_product_refuses_bad_prices(shop, changes, field, code):
    price = {"market_id": shop.market.pk, "price_cents": 100} | changes

    answer = shop.admin.post("products.json", with_pricing(price))

    assert field_errors(answer) == [(f"variants.0.pricing.0.{field}", code)]
    assert counts(shop) == (0, 0, 0)


def test_create_product_refuses_a_market_priced_twice(shop):
    price = {"market_id": shop.market.pk, "price_cents": 100}

    answer = shop.admin.post("products.json", with_pricing(price, price))

    assert field_errors(answer) == [("variants.0.pricing", "duplicate")]


def test_create_product_refuses_markets_of_another_shop(shop, other_shop):
    known = {"market_id": shop.market.pk, "price_cents": 100}
    foreign = {"market_id": other_shop.market.pk, "price_cents": 100}
    unknown = {"market_id": 999_999_999, "price_cents": 100}

    answer = shop.admin.post("products.json", with_pricing(known, foreign, unknown))

    assert field_errors(answer) == [
        ("variants.0.pricing.1.market_id", "not_found"),
        ("variants.0.pricing.2.market_id", "not_found"),
    ]
    assert counts(shop) == (0, 0, 0)


def test_create_product_refuses_a_taken_handle_also_of_an_archived_one(shop):
    product = make_product(shop, handle="shirt")
    shop.admin.delete(f"products/{product.pk}.json")

    answer = shop.admin.post("products.json", SHIRT)

    assert refusal(answer) == (409, "handle_taken")
    assert counts(shop) == (1, 0, 0)


def test_create_product_refuses_a_taken_sku(shop):
    make_variant(shop, sku="S-1")

    answer = shop.admin.post("products.json", SHIRT | {"variants": [{"sku": "S-1"}]})

    assert refusal(answer) == (409, "sku_taken")
    assert counts(shop) == (1, 1, 1)


def test_create_product_takes_a_handle_and_sku_of_another_shop(shop, other_shop):
    make_variant(other_shop, product=make_product(other_shop, handle="shirt"), sku="S-1")

    answer = shop.admin.post("products.json", SHIRT | {"variants": [{"sku": "S-1"}]})

    assert answer.status_code == 201


def test_list_products_is_newest_first_and_filtered(shop, other_shop):
    draft = make_product(shop, status="draft")
    active = make_product(shop)
    make_product(other_shop)

    everything = shop.admin.get("products.json").json()
    drafts = shop.admin.get("products.json?status=draft").json()
    named = shop.admin.get(f"products.json?handle={active.handle}").json()

    assert [product["id"] for product in everything["products"]] == [str(active.pk), str(draft.pk)]
    assert everything["next_cursor_id"] is None
    assert [product["id"] for product in drafts["products"]] == [str(draft.pk)]
    assert [product["id"] for product in named["products"]] == [str(active.pk)]


def test_list_products_refuses_an_unknown_status(shop):
    assert field_errors(shop.admin.get("products.json?status=gone")) == [("status", "invalid_choice")]


@pytest.mark.parametrize("number", [1, 3])
def test_list_products_takes_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    for _ in range(number):
        product = make_product(shop)
        for _ in range(number):
            make_variant(shop, product=product)
    shop.admin.get("products.json")

    with django_assert_num_queries(7):
        answer = shop.admin.get("products.json")

    assert len(answer.json()["products"]) == number


def test_products_need_the_scope_of_products(shop):
    reader = shop.client_with("read_products")

    assert reader.get("products.json").status_code == 200
    assert refusal(reader.post("products.json", SHIRT)) == (403, "insufficient_scope")
    assert refusal(shop.client_with("write_orders").get("products.json")) == (403, "insufficient_scope")
    assert counts(shop) == (0, 0, 0)
