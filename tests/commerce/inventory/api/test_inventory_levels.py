"""inventory_levels.json and inventory_levels/adjust.json."""

import pytest

from commerce.formats import timestamp
from commerce.inventory.models import InventoryAdjustment, InventoryLevel, Location
from tests.commerce.refusals import field_errors, refusal
from tests.factories import make_variant, set_stock

# The stock from the factory.
STOCKED = (10, "received", 10)


def main_location(shop):
    with shop.scope():
        return Location.objects.get(handle="main")


def stock_of(shop, variant):
    with shop.scope():
        rows = InventoryLevel.objects.filter(variant=variant)
        return list(rows.values_list("on_hand", "reserved", "committed"))


def adjustments_of(shop):
    with shop.scope():
        rows = InventoryAdjustment.objects.order_by("pk")
        return list(rows.values_list("delta", "reason", "on_hand_after"))


def hold(shop, variant, **fields):
    with shop.scope():
        InventoryLevel.objects.filter(variant=variant).update(**fields)


def adjust(shop, variant, units, **fields):
    body = {"variant_id": variant.pk, "location_id": main_location(shop).pk, "delta": units}
    return shop.admin.post("inventory_levels/adjust.json", body | {"reason": "correction"} | fields)


def test_adjust_makes_the_level_of_a_variant_that_has_none(shop):
    variant = make_variant(shop, stock=None)

    answer = adjust(shop, variant, 12, reason="received")

    assert answer.status_code == 200
    with shop.scope():
        level = InventoryLevel.objects.get()
    assert answer.json()["inventory_level"] == {
        "id": str(level.pk),
        "variant_id": str(variant.pk),
        "location_id": str(main_location(shop).pk),
        "on_hand": 12,
        "reserved": 0,
        "committed": 0,
        "available": 12,
        "updated_at": timestamp(level.updated_at),
    }
    assert adjustments_of(shop) == [(12, "received", 12)]


def test_adjust_adds_up_and_keeps_each_change(shop):
    variant = make_variant(shop, stock=10)
    hold(shop, variant, reserved=2, committed=3)

    adjust(shop, variant, 4, reason="returned")
    answer = adjust(shop, variant, -9, reason="damaged")

    level = answer.json()["inventory_level"]
    assert (level["on_hand"], level["reserved"], level["committed"], level["available"]) == (5, 2, 3, 0)
    assert adjustments_of(shop) == [STOCKED, (4, "returned", 14), (-9, "damaged", 5)]


def test_adjust_below_what_is_promised_is_refused(shop):
    variant = make_variant(shop, stock=10)
    hold(shop, variant, reserved=2, committed=3)

    answer = adjust(shop, variant, -6)

    assert refusal(answer) == (409, "stock_below_committed")
    problem = answer.json()
    assert (problem["on_hand"], problem["reserved"], problem["committed"]) == (10, 2, 3)
    assert stock_of(shop, variant) == [(10, 2, 3)]
    assert adjustments_of(shop) == [STOCKED]


def test_adjust_of_backorders_goes_below_what_is_promised_but_not_below_nothing(shop):
    variant = make_variant(shop, stock=10, allow_backorder=True)
    hold(shop, variant, reserved=20)

    assert adjust(shop, variant, -10).json()["inventory_level"]["available"] == -20
    assert refusal(adjust(shop, variant, -1)) == (409, "stock_below_committed")

    assert stock_of(shop, variant) == [(0, 20, 0)]


def test_adjust_below_nothing_makes_no_level(shop):
    variant = make_variant(shop, stock=None)

    assert refusal(adjust(shop, variant, -1)) == (409, "stock_below_committed")
    assert stock_of(shop, variant) == []


@pytest.mark.parametrize("fields", [{"allow_backorder": True}, {"track_inventory": False}])
def test_adjust_makes_levels_with_the_variants_rule(shop, fields):
    adjust(shop, make_variant(shop, stock=None, **fields), 1)

    with shop.scope():
        assert InventoryLevel.objects.get().allow_backorder is True


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"delta": 0}, "delta", "zero"),
        ({"delta": 1_000_000_001}, "delta", "max_value"),
        ({"delta": -1_000_000_001}, "delta", "min_value"),
        ({"delta": 1.0}, "delta", "invalid"),
        ({"delta": None}, "delta", "null"),
        ({"reason": "theft"}, "reason", "invalid_choice"),
        ({"reason": {}}, "reason", "invalid_choice"),
        ({"variant_id": "one"}, "variant_id", "invalid"),
        ({"variant_id": 999_999_999}, "variant_id", "not_found"),
        ({"location_id": 2**63}, "location_id", "max_value"),
        ({"location_id": 999_999_999}, "location_id", "not_found"),
    ],
)
def test_adjust_refuses_bad_fields(shop, changes, field, code):
    variant = make_variant(shop, stock=10)

    answer = adjust(shop, variant, 5, **changes)

    assert field_errors(answer) == [(field, code)]
    assert stock_of(shop, variant) == [(10, 0, 0)]
    assert adjustments_of(shop) == [STOCKED]


def test_adjust_refuses_the_things_of_another_shop(shop, other_shop):
    variant = make_variant(other_shop, stock=10)

    answer = adjust(shop, variant, 5, location_id=main_location(other_shop).pk)

    assert field_errors(answer) == [("variant_id", "not_found"), ("location_id", "not_found")]
    assert stock_of(other_shop, variant) == [(10, 0, 0)]


def test_list_levels_by_variant_and_location(shop, other_shop):
    second = shop.admin.post("locations.json", {"handle": "second", "name": "Second"}).json()["location"]
    shirt, hat = make_variant(shop, stock=1), make_variant(shop, stock=2)
    set_stock(shop, shirt, 3, location=Location(pk=int(second["id"]), account_id=shop.id))
    make_variant(other_shop, stock=4)

    def listed(query: str) -> list[int]:
        answer = shop.admin.get(f"inventory_levels.json{query}")
        return [level["on_hand"] for level in answer.json()["inventory_levels"]]

    assert listed("") == [3, 2, 1]
    assert listed(f"?variant_id={shirt.pk}") == [3, 1]
    assert listed(f"?location_id={main_location(shop).pk}") == [2, 1]
    assert listed(f"?variant_id={hat.pk}&location_id={second['id']}") == []


def test_list_levels_refuses_what_is_no_id(shop):
    assert field_errors(shop.admin.get("inventory_levels.json?variant_id=0")) == [("variant_id", "min_value")]


@pytest.mark.parametrize("number", [1, 3])
def test_list_levels_takes_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    for _ in range(number):
        make_variant(shop)
    shop.admin.get("inventory_levels.json")

    with django_assert_num_queries(5):
        answer = shop.admin.get("inventory_levels.json")

    assert len(answer.json()["inventory_levels"]) == number


def test_stock_needs_the_scope_of_inventory(shop):
    variant = make_variant(shop, stock=10)
    reader = shop.client_with("read_inventory")

    assert reader.get("inventory_levels.json").status_code == 200
    assert refusal(reader.post("inventory_levels/adjust.json", {})) == (403, "insufficient_scope")
    assert refusal(shop.client_with("write_products").get("locations.json")) == (403, "insufficient_scope")
    assert stock_of(shop, variant) == [(10, 0, 0)]
