from commerce.inventory.models import InventoryAdjustment, InventoryLevel, Location
from tests import factories
from tests.backoffice.clients import messages_of

STOCK = "inventory/inventorylevel/stock/"


def adjust(level):
    return f"inventory/inventorylevel/{level.pk}/adjust/"


def test_stock_is_adjusted(shop, owner):
    level = factories.set_stock(shop, factories.make_variant(shop, stock=None), 5)

    answer = owner.confirm(adjust(level), delta=-2, reason="damaged")

    assert messages_of(answer) == ["Stock changed by -2; 3 on hand."]
    with shop.scope():
        adjustment = InventoryAdjustment.objects.latest("pk")
        assert InventoryLevel.objects.get().on_hand == 3
    assert (adjustment.delta, adjustment.reason, adjustment.on_hand_after) == (-2, "damaged", 3)


def test_stock_below_what_is_reserved_is_refused(shop, owner):
    level = factories.set_stock(shop, factories.make_variant(shop, stock=None), 5, reserved=4)

    answer = owner.confirm(adjust(level), delta=-2, reason="count")

    assert messages_of(answer) == ["The stock would fall below what is reserved and committed"]
    with shop.scope():
        assert InventoryLevel.objects.get().on_hand == 5
        assert InventoryAdjustment.objects.get().delta == 5


def test_adjustment_by_nothing_is_a_form_error(shop, owner):
    level = factories.set_stock(shop, factories.make_variant(shop, stock=None), 5)

    answer = owner.confirm(adjust(level), delta=0, reason="count")

    assert answer.context["form"].errors == {"delta": ["Must not be 0."]}
    with shop.scope():
        assert InventoryAdjustment.objects.get().delta == 5


def test_opening_the_dialog_changes_nothing(shop, owner):
    level = factories.set_stock(shop, factories.make_variant(shop, stock=None), 5)

    owner.get(adjust(level), delta=5, reason="count", _form_submitted="on")

    with shop.scope():
        assert InventoryLevel.objects.get().on_hand == 5


def test_variant_gets_its_first_stock_by_sku(shop, owner):
    factories.make_variant(shop, sku="MUG-1", stock=None)
    with shop.scope():
        location = Location.objects.get()

    owner.confirm(STOCK, variant="MUG-1", location=location.pk, delta=12, reason="received")

    with shop.scope():
        assert InventoryLevel.objects.get().on_hand == 12


def test_stock_of_another_shops_sku_or_location_is_refused(shop, other_shop, owner):
    factories.make_variant(other_shop, sku="MUG-1", stock=None)
    with other_shop.scope():
        location = Location.objects.get()

    answer = owner.confirm(STOCK, variant="MUG-1", location=location.pk, delta=12, reason="received")

    assert set(answer.context["form"].errors) == {"variant", "location"}
    with other_shop.scope():
        assert not InventoryLevel.objects.exists()


def test_location_is_added_and_changed(shop, owner):
    owner.fill("inventory/location/add/", handle="north", name="North", priority=2)
    with shop.scope():
        location = Location.objects.get(handle="north")

    owner.fill(f"inventory/location/{location.pk}/change/", priority=3)

    with shop.scope():
        location.refresh_from_db()
    assert (location.name, location.priority) == ("North", 3)


def test_taken_handle_of_a_location_is_a_form_error(shop, owner):
    answer = owner.fill("inventory/location/add/", handle="main", name="Another", priority=2)

    assert list(answer.context["adminform"].form.errors) == ["__all__"]
    with shop.scope():
        assert Location.objects.count() == 1
