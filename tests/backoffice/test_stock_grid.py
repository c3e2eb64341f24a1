"""The grid of stock: units on hand at several locations at once."""

from commerce.backoffice.models import StaffAction
from commerce.inventory.models import InventoryAdjustment, InventoryLevel, Location
from tests import factories
from tests.backoffice.clients import messages_of
from tests.backoffice.grids import STOCK, cell, confirmed, sent_by


def test_stock_is_set_at_several_locations_at_once(shop, owner):
    mug = factories.make_variant(shop, stock=None)
    level = factories.set_stock(shop, mug, 5, reserved=2)
    with shop.scope():
        north = Location.objects.create(handle="north", name="North", priority=2)
    changes = {cell(mug, level.location): "8", cell(mug, north): "3"}

    page = owner.get(STOCK)
    answer = owner.post(STOCK, confirmed(owner.post(STOCK, sent_by(page, **changes, reason="received"))))

    assert "2 reserved or committed" in page.content.decode()
    assert messages_of(answer) == ["2 values were changed."]
    with shop.scope():
        assert dict(InventoryLevel.objects.values_list("location_id", "on_hand")) == {
            level.location_id: 8,
            north.pk: 3,
        }
        latest = InventoryAdjustment.objects.order_by("-pk")[:2]
        assert {(row.delta, row.reason, row.on_hand_after) for row in latest} == {
            (3, "received", 8),
            (3, "received", 3),
        }
        logged = StaffAction.objects.get()
    assert logged.summary == "changed Stock on hand"
    assert logged.changes == [
        {"field": f"Stock on hand: {level.location.name}", "before": "5", "after": "8"},
        {"field": "Stock on hand: North", "before": "", "after": "3"},
    ]


def test_stock_below_what_is_reserved_is_marked_and_nothing_is_saved(shop, owner):
    mug, cup = (factories.make_variant(shop, stock=None) for _ in range(2))
    level = factories.set_stock(shop, mug, 5, reserved=4)
    factories.set_stock(shop, cup, 5)
    changes = {cell(mug, level.location): "3", cell(cup, level.location): "9"}

    answer = owner.post(STOCK, sent_by(owner.get(STOCK), **changes) | {"save": "1"})

    assert answer.context["form"].errors == {
        cell(mug, level.location): ["The stock would fall below what is reserved and committed"]
    }
    with shop.scope():
        assert {row.on_hand for row in InventoryLevel.objects.all()} == {5}
