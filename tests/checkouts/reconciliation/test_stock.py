"""`manage.py reconcile`: finds units of checkouts and orders that weren't reserved or counted."""

import pytest

from commerce.inventory.models import Reservation
from tests import factories
from tests.checkouts.reconciliation.command import reconcile
from tests.checkouts.reconciliation.sale import CHECKOUT, OF_SHOP, Sale
from tests.storefront import PHASES, enter_checkout, take_step

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("status", ["reserved", "committed", "fulfilled"])
def test_lost_reservation_is_found(shop, status):
    sale = Sale(shop, "payment" if status == "reserved" else "completed")
    owner = f"checkout {sale.checkout_id}" if status == "reserved" else f"order {sale.order_id}"
    undone = f"{status} = {status} - 2"
    if status == "fulfilled":
        assert shop.admin.post(f"orders/{sale.order_id}/fulfill.json", {}).status_code == 200
        assert reconcile(shop) == []
        undone = "on_hand = on_hand + 2"

    lines = sale.damaged(
        f"DELETE FROM inventory_reservations {CHECKOUT}", f"UPDATE inventory_levels SET {undone} {OF_SHOP}"
    )

    assert lines == [
        f"{owner} needs 2 units of variant {sale.variant.pk} {status}, but its reservations come to 0"
    ]


def test_reservation_of_fewer_units_is_found(sold):
    assert sold.damaged(
        f"UPDATE inventory_reservations SET quantity = 1 {CHECKOUT}",
        f"UPDATE inventory_levels SET committed = committed - 1 {OF_SHOP}",
    ) == [
        f"order {sold.order_id} needs 2 units of variant {sold.variant.pk} committed, but its reservations come to 1"
    ]


def test_reservation_of_a_variant_that_nobody_bought_is_found(shop, sold):
    other = factories.make_variant(shop, stock=5)
    assert sold.damaged(
        "INSERT INTO inventory_reservations (account_id, level_id, checkout_id, quantity, status, created_at,"
        " updated_at) SELECT account_id, id, %(checkout)s, 3, 'committed', now(), now() FROM inventory_levels"
        f" {OF_SHOP} AND on_hand = 5",
        f"UPDATE inventory_levels SET committed = 3 {OF_SHOP} AND on_hand = 5",
    ) == [
        f"order {sold.order_id} needs 0 units of variant {other.pk} committed, but its reservations come to 3"
    ]


def test_variant_that_was_not_tracked_when_it_was_bought_agrees(shop):
    variant = factories.make_variant(shop, stock=10, track_inventory=False)
    rate = factories.make_rate(shop)
    checkout = enter_checkout(shop, (variant, 2))
    for step in PHASES[1:]:
        take_step(step, shop, checkout["token"], rate=rate)
    assert reconcile(shop) == []

    assert shop.admin.put(f"variants/{variant.pk}.json", {"track_inventory": True}).status_code == 200

    with shop.scope():
        assert not Reservation.objects.exists()
    assert reconcile(shop) == []


def test_variant_that_has_been_tracked_for_long_must_be_reserved(shop, sold):
    for is_tracked in (False, True):
        shop.admin.put(f"variants/{sold.variant.pk}.json", {"track_inventory": is_tracked})
    lost = [
        f"DELETE FROM inventory_reservations {CHECKOUT}",
        f"UPDATE inventory_levels SET committed = committed - 2 {OF_SHOP}",
    ]
    assert sold.damaged(*lost) == []

    lines = sold.damaged(f"UPDATE variants SET tracking_changed_at = now() - interval '1 hour' {OF_SHOP}")

    assert lines == [
        f"order {sold.order_id} needs 2 units of variant {sold.variant.pk} committed, but its reservations come to 0"
    ]


def test_units_on_hand_without_an_adjustment_are_found(sold):
    assert sold.damaged(f"UPDATE inventory_levels SET on_hand = on_hand + 7 {OF_SHOP}") == [
        (
            f"inventory level {sold.level_id} has 17 units on hand, but its adjustments come to 10,"
            " of which 0 were sent out"
        )
    ]


def test_order_that_was_sent_without_its_units_is_found(shop, sold):
    assert shop.admin.post(f"orders/{sold.order_id}/fulfill.json", {}).status_code == 200

    lines = sold.damaged(f"UPDATE inventory_levels SET on_hand = on_hand + 2 {OF_SHOP}")

    assert lines == [
        (
            f"inventory level {sold.level_id} has 10 units on hand, but its adjustments come to 10,"
            " of which 2 were sent out"
        )
    ]


def test_units_sent_out_for_no_fulfilled_order_are_found(shop, sold):
    assert shop.admin.post(f"orders/{sold.order_id}/cancel.json", {}).status_code == 200
    with shop.scope():
        reservation = Reservation.objects.get(checkout_id=sold.checkout_id)

    lines = sold.damaged(
        f"UPDATE inventory_reservations SET status = 'fulfilled' {CHECKOUT}",
        f"UPDATE inventory_levels SET on_hand = on_hand - 2 {OF_SHOP}",
    )

    assert lines == [
        f"reservation {reservation.pk} was sent out, but checkout {sold.checkout_id} has no fulfilled order"
    ]
