"""Constraints of the database, independent of the application."""

import pytest

from commerce.inventory.models import InventoryLevel, Location, Reservation
from tests.commerce.refusals import refused_constraint
from tests.factories import make_variant, set_stock


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"on_hand": -1, "allow_backorder": True}, "inventory_levels_on_hand"),
        ({"reserved": -1}, "inventory_levels_reserved"),
        ({"committed": -1}, "inventory_levels_committed"),
        ({"reserved": 6, "committed": 5}, "inventory_levels_not_oversold"),
        ({"on_hand": 0, "reserved": 1}, "inventory_levels_not_oversold"),
    ],
)
def test_a_level_never_promises_more_than_it_may(shop, fields, constraint):
    make_variant(shop, stock=10)

    with shop.scope():
        assert refused_constraint(lambda: InventoryLevel.objects.update(**fields)) == constraint


def test_a_variant_has_one_level_at_a_location(shop):
    variant = make_variant(shop, stock=10)

    assert refused_constraint(lambda: set_stock(shop, variant, 1)) == "inventory_levels_place"


def test_a_location_handle_is_unique_in_its_account(shop):
    with shop.scope():
        again = Location.objects.create
        assert refused_constraint(lambda: again(handle="main", name="x")) == "locations_handle"


def test_a_reservation_holds_something(shop):
    make_variant(shop, stock=10)

    with shop.scope():
        level = InventoryLevel.objects.get()
        hold = Reservation.objects.create
        constraint = refused_constraint(lambda: hold(checkout_id=1, level=level, quantity=0))

    assert constraint == "inventory_reservations_quantity"


def test_a_checkout_holds_a_level_once(shop):
    make_variant(shop, stock=10)

    with shop.scope():
        level = InventoryLevel.objects.get()
        Reservation.objects.create(checkout_id=1, level=level, quantity=1)
        again = Reservation.objects.create
        constraint = refused_constraint(lambda: again(checkout_id=1, level=level, quantity=1))

    assert constraint == "inventory_reservations_once"
