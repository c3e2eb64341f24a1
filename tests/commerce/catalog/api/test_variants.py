"""products/{id}/variants.json and variants/{id}.json."""

import pytest

from commerce.catalog.models import Product, Variant
from commerce.formats import timestamp
from commerce.inventory.models import InventoryLevel
from tests.commerce.refusals import field_errors, refusal
from tests.factories import make_product, make_variant


def variant_row(shop, variant_id):
    with shop.scope():
        return Variant.objects.get(pk=variant_id)


def variant_count(shop):
    with shop.scope():
        return Variant.objects.count()


def level_of(shop, variant):
    with shop.scope():
        return InventoryLevel.objects.get(variant=variant)


def hold(shop, variant, **fields):
    with shop.scope():
        InventoryLevel.objects.filter(variant=variant).update(**fields)


def test_add_variant_with_its_price(shop):
    product = make_product(shop)
    body = {"sku": "S-1", "pricing": [{"market_id": shop.market.pk, "price_cents": 1990}]}

    answer = shop.admin.post(f"products/{product.pk}/variants.json", body)

    assert answer.status_code == 201
    variant = answer.json()["variant"]
    assert (variant["product_id"], variant["sku"]) == (str(product.pk), "S-1")
    assert [price["price_cents"] for price in variant["pricing"]] == ["1990"]


def test_add_variant_refuses_a_market_of_another_shop(shop, other_shop):
    product = make_product(shop)
    body = {"sku": "S-1", "pricing": [{"market_id": other_shop.market.pk, "price_cents": 1990}]}

    answer = shop.admin.post(f"products/{product.pk}/variants.json", body)

    assert field_errors(answer) == [("pricing.0.market_id", "not_found")]
    assert variant_count(shop) == 0


def test_add_variant_refuses_a_taken_sku(shop):
    variant = make_variant(shop, sku="S-1")

    answer = shop.admin.post(f"products/{variant.product_id}/variants.json", {"sku": "S-1"})

    assert refusal(answer) == (409, "sku_taken")
    assert variant_count(shop) == 1


def test_add_variant_to_an_archived_product_is_refused(shop):
    product = make_product(shop)
    shop.admin.delete(f"products/{product.pk}.json")

    answer = shop.admin.post(f"products/{product.pk}/variants.json", {"sku": "S-1"})

    assert refusal(answer) == (409, "product_archived")
    assert variant_count(shop) == 0


def test_add_variant_to_a_product_of_another_shop_is_not_found(shop, other_shop):
    product = make_product(other_shop)

    assert shop.admin.post(f"products/{product.pk}/variants.json", {}).status_code == 404
    assert variant_count(other_shop) == 0


@pytest.mark.parametrize("number", [1, 3])
def test_list_variants_shows_the_live_ones_newest_first(shop, django_assert_num_queries, number):
    product = make_product(shop)
    variants = [make_variant(shop, product=product) for _ in range(number)]
    gone = make_variant(shop, product=product)
    make_variant(shop)
    shop.admin.delete(f"variants/{gone.pk}.json")

    with django_assert_num_queries(7):
        answer = shop.admin.get(f"products/{product.pk}/variants.json")

    assert [variant["id"] for variant in answer.json()["variants"]] == [
        str(variant.pk) for variant in reversed(variants)
    ]


def test_list_variants_of_a_product_of_another_shop_is_not_found(shop, other_shop):
    product = make_product(other_shop)

    assert shop.admin.get(f"products/{product.pk}/variants.json").status_code == 404


def test_get_variant_shows_an_archived_one(shop):
    variant = make_variant(shop, price_cents=1990)
    shop.admin.delete(f"variants/{variant.pk}.json")

    answer = shop.admin.get(f"variants/{variant.pk}.json")

    assert answer.status_code == 200
    shown = answer.json()["variant"]
    assert shown["archived_at"] == timestamp(variant_row(shop, variant.pk).archived_at)
    assert [price["price_cents"] for price in shown["pricing"]] == ["1990"]


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_variant_of_another_shop_is_not_found(shop, other_shop, method):
    variant = make_variant(other_shop, title="Theirs")

    assert getattr(shop.admin, method)(f"variants/{variant.pk}.json").status_code == 404
    assert variant_row(other_shop, variant.pk).archived_at is None


def test_update_variant_changes_only_what_is_sent(shop):
    variant = make_variant(shop, sku="S-1", title="Small", weight_grams=500)

    answer = shop.admin.put(f"variants/{variant.pk}.json", {"weight_grams": 750, "tax_class": "reduced"})

    assert answer.status_code == 200
    changed = answer.json()["variant"]
    assert (changed["weight_grams"], changed["tax_class"]) == (750, "reduced")
    assert (changed["sku"], changed["title"]) == ("S-1", "Small")


def test_update_variant_refuses_a_taken_sku(shop):
    make_variant(shop, sku="S-1")
    variant = make_variant(shop, sku="S-2")

    answer = shop.admin.put(f"variants/{variant.pk}.json", {"sku": "S-1"})

    assert refusal(answer) == (409, "sku_taken")
    assert variant_row(shop, variant.pk).sku == "S-2"


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"sku": ""}, "blank"), ({"sku": None}, "null"), ({"sku": 5}, "invalid"), ({"sku": " "}, "blank")],
)
def test_update_variant_refuses_bad_fields(shop, changes, code):
    variant = make_variant(shop, sku="S-1")

    answer = shop.admin.put(f"variants/{variant.pk}.json", changes)

    assert field_errors(answer) == [("sku", code)]
    assert variant_row(shop, variant.pk).sku == "S-1"


@pytest.mark.parametrize(
    ("changes", "may_oversell"),
    [
        ({"allow_backorder": True}, True),
        ({"track_inventory": False}, True),
        ({"track_inventory": False, "allow_backorder": False}, True),
        ({"allow_backorder": False}, False),
    ],
)
def test_update_variant_carries_its_rule_to_the_stock(shop, changes, may_oversell):
    variant = make_variant(shop, stock=5)

    assert shop.admin.put(f"variants/{variant.pk}.json", changes).status_code == 200

    assert level_of(shop, variant).allow_backorder is may_oversell


@pytest.mark.parametrize("flag", ["allow_backorder", "track_inventory"])
def test_update_variant_refuses_to_end_backorders_that_the_stock_does_not_cover(shop, flag):
    variant = make_variant(shop, stock=5, **{flag: flag == "allow_backorder"})
    hold(shop, variant, reserved=4, committed=2)

    answer = shop.admin.put(f"variants/{variant.pk}.json", {flag: flag != "allow_backorder"})

    assert refusal(answer) == (409, "stock_below_committed")
    assert level_of(shop, variant).allow_backorder is True
    assert getattr(variant_row(shop, variant.pk), flag) is (flag == "allow_backorder")


def test_update_variant_ends_backorders_that_the_stock_covers(shop):
    variant = make_variant(shop, stock=6, allow_backorder=True)
    hold(shop, variant, reserved=4, committed=2)

    assert shop.admin.put(f"variants/{variant.pk}.json", {"allow_backorder": False}).status_code == 200

    assert level_of(shop, variant).allow_backorder is False


def test_delete_variant_archives_it_and_frees_its_sku(shop):
    variant = make_variant(shop, sku="S-1")

    first = shop.admin.delete(f"variants/{variant.pk}.json")
    second = shop.admin.delete(f"variants/{variant.pk}.json")
    again = shop.admin.post(f"products/{variant.product_id}/variants.json", {"sku": "S-1"})

    assert first.status_code == 200
    assert first.json()["variant"]["archived_at"] is not None
    assert second.json() == first.json()
    assert again.status_code == 201
    with shop.scope():
        assert Product.objects.get(pk=variant.product_id).status == "active"
