"""Stock held by checkouts: what each operation moves and refuses, and in how many statements."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from commerce.catalog.models import Variant
from commerce.inventory import reservations
from commerce.inventory.errors import InsufficientInventory
from commerce.inventory.models import InventoryAdjustment, InventoryLevel, Location, Reservation
from tests.factories import make_variant, set_stock
from tests.shops import Shop

CHECKOUT, OTHER_CHECKOUT = 71, 72


@pytest.fixture
def variant(shop: Shop) -> Variant:
    """A variant with ten units at the first location."""
    return make_variant(shop, stock=10)


@pytest.fixture(autouse=True)
def _scope(shop: Shop, variant: Variant) -> Iterator[None]:
    with shop.scope():
        yield


def reserve(*wanted: tuple[Variant, int], checkout_id: int = CHECKOUT, **options) -> None:
    reservations.reserve(
        checkout_id=checkout_id,
        wanted={variant.pk: quantity for variant, quantity in wanted},
        now=timezone.now(),
        **options,
    )


def stock_of(variant: Variant) -> tuple[int, int, int]:
    level = InventoryLevel.objects.get(variant=variant)
    return level.on_hand, level.reserved, level.committed


def statuses() -> list[tuple[int, int, str]]:
    rows = Reservation.objects.order_by("checkout_id", "level__variant_id")
    return list(rows.values_list("checkout_id", "quantity", "status"))


def test_reserve_takes_from_what_is_available(variant):
    reserve((variant, 4))

    assert stock_of(variant) == (10, 4, 0)
    assert statuses() == [(CHECKOUT, 4, "reserved")]


def test_reserve_is_refused_when_one_of_the_variants_falls_short(shop, variant):
    plenty = make_variant(shop, stock=50)
    reserve((variant, 7), checkout_id=OTHER_CHECKOUT)

    with pytest.raises(InsufficientInventory) as refused:
        reserve((plenty, 1), (variant, 4))

    assert refused.value.extras == {"items": [{"variant_id": variant.pk, "requested": 4, "available": 3}]}
    assert stock_of(plenty) == (50, 0, 0)
    assert stock_of(variant) == (10, 7, 0)
    assert statuses() == [(OTHER_CHECKOUT, 7, "reserved")]


def test_reserve_repeated_by_one_checkout_holds_once(variant):
    reserve((variant, 4))
    reserve((variant, 4))

    assert stock_of(variant) == (10, 4, 0)


def test_reserve_after_a_release_takes_up_the_old_row(variant):
    reserve((variant, 4))
    reservations.release(checkout_ids=[CHECKOUT])

    reserve((variant, 6))

    assert stock_of(variant) == (10, 6, 0)
    assert statuses() == [(CHECKOUT, 6, "reserved")]


def test_reserve_instead_of_another_checkout_has_its_units(variant):
    reserve((variant, 8), checkout_id=OTHER_CHECKOUT)

    reserve((variant, 9), instead_of=[OTHER_CHECKOUT])

    assert stock_of(variant) == (10, 9, 0)
    assert statuses() == [(CHECKOUT, 9, "reserved"), (OTHER_CHECKOUT, 8, "released")]


def test_reserve_of_nothing_tracked_still_releases_what_it_stands_instead_of(shop, variant):
    service = make_variant(shop, track_inventory=False, stock=None)
    reserve((variant, 8), checkout_id=OTHER_CHECKOUT)

    reserve((service, 1), instead_of=[OTHER_CHECKOUT])

    assert stock_of(variant) == (10, 0, 0)


def test_reserve_skips_untracked_variants(shop):
    service = make_variant(shop, track_inventory=False, stock=0)

    reserve((service, 3))

    assert stock_of(service) == (0, 0, 0)
    assert statuses() == []


def test_reserve_of_a_backorder_goes_past_the_stock(shop):
    variant = make_variant(shop, allow_backorder=True, stock=2)

    reserve((variant, 5))

    assert stock_of(variant) == (2, 5, 0)


def test_reserve_of_a_backorder_without_a_level_makes_it(shop):
    variant = make_variant(shop, allow_backorder=True, stock=None)

    reserve((variant, 5))

    assert stock_of(variant) == (0, 5, 0)
    assert InventoryLevel.objects.get(variant=variant).allow_backorder is True


def test_reserve_without_a_level_has_nothing_available(shop):
    variant = make_variant(shop, stock=None)

    with pytest.raises(InsufficientInventory) as refused:
        reserve((variant, 1))

    assert refused.value.extras["items"] == [{"variant_id": variant.pk, "requested": 1, "available": 0}]
    assert not InventoryLevel.objects.filter(variant=variant).exists()


def test_reserve_looks_at_the_highest_priority_active_location_alone(shop, variant):
    Location.objects.create(handle="closed", name="Closed", priority=1, is_active=False)
    second = Location.objects.create(handle="second", name="Second", priority=2)
    set_stock(shop, variant, 90, location=second)

    with pytest.raises(InsufficientInventory):
        reserve((variant, 11))
    Location.objects.filter(handle="main").update(priority=3)
    reserve((variant, 11))

    assert InventoryLevel.objects.get(variant=variant, location=second).reserved == 11


def test_reserve_among_equal_priorities_takes_the_older_location(shop, variant):
    younger = Location.objects.create(handle="younger", name="Younger", priority=1)
    set_stock(shop, variant, 90, location=younger)

    reserve((variant, 3))

    assert InventoryLevel.objects.get(variant=variant, location__handle="main").reserved == 3
    assert InventoryLevel.objects.get(variant=variant, location=younger).reserved == 0


@pytest.mark.parametrize("allow_backorder", [False, True])
def test_reserve_without_an_active_location_is_refused(shop, allow_backorder):
    variant = make_variant(shop, stock=5, allow_backorder=allow_backorder)
    Location.objects.update(is_active=False)

    with pytest.raises(InsufficientInventory):
        reserve((variant, 1))

    assert stock_of(variant) == (5, 0, 0)


def test_release_gives_back_what_several_checkouts_hold(shop, variant):
    second = make_variant(shop, stock=10)
    reserve((variant, 4), (second, 1))
    reserve((variant, 2), checkout_id=OTHER_CHECKOUT)

    reservations.release(checkout_ids=[CHECKOUT, OTHER_CHECKOUT])
    reservations.release(checkout_ids=[CHECKOUT, OTHER_CHECKOUT])

    assert stock_of(variant) == (10, 0, 0)
    assert stock_of(second) == (10, 0, 0)


def test_release_leaves_what_is_committed(variant):
    reserve((variant, 4))
    reservations.commit(checkout_id=CHECKOUT)

    reservations.release(checkout_ids=[CHECKOUT])

    assert stock_of(variant) == (10, 0, 4)


def test_commit_moves_reserved_to_committed_once(variant):
    reserve((variant, 4))

    reservations.commit(checkout_id=CHECKOUT)
    reservations.commit(checkout_id=CHECKOUT)

    assert stock_of(variant) == (10, 0, 4)
    assert statuses() == [(CHECKOUT, 4, "committed")]


def test_reserve_after_the_commit_changes_nothing(variant):
    reserve((variant, 4))
    reservations.commit(checkout_id=CHECKOUT)

    reserve((variant, 4))

    assert stock_of(variant) == (10, 0, 4)


def test_fulfill_lowers_on_hand_and_committed_once(variant):
    reserve((variant, 4))
    reservations.commit(checkout_id=CHECKOUT)

    reservations.fulfill(checkout_id=CHECKOUT)
    reservations.fulfill(checkout_id=CHECKOUT)

    assert stock_of(variant) == (6, 0, 0)
    assert statuses() == [(CHECKOUT, 4, "fulfilled")]


def test_fulfill_of_a_backorder_waits_for_the_stock(shop):
    variant = make_variant(shop, allow_backorder=True, stock=2)
    reserve((variant, 5))
    reservations.commit(checkout_id=CHECKOUT)

    with pytest.raises(InsufficientInventory) as refused:
        reservations.fulfill(checkout_id=CHECKOUT)

    assert refused.value.extras["items"] == [{"variant_id": variant.pk, "requested": 5, "available": 2}]
    assert stock_of(variant) == (2, 0, 5)
    assert statuses() == [(CHECKOUT, 5, "committed")]


def test_fulfill_of_a_variant_no_longer_tracked_corrects_the_count_and_goes_down_to_nothing(shop):
    variant, other = make_variant(shop, allow_backorder=True, stock=2), make_variant(shop, stock=9)
    reserve((variant, 5), (other, 4))
    reservations.commit(checkout_id=CHECKOUT)
    Variant.objects.filter(pk=variant.pk).update(track_inventory=False)

    reservations.fulfill(checkout_id=CHECKOUT)
    reservations.fulfill(checkout_id=CHECKOUT)

    assert stock_of(variant) == (0, 0, 0)
    assert stock_of(other) == (5, 0, 0)
    entries = InventoryAdjustment.objects.filter(level__variant__in=[variant, other]).order_by("pk")
    assert list(entries.values_list("level__variant", "delta", "reason", "on_hand_after")) == [
        (variant.pk, 2, "received", 2),
        (other.pk, 9, "received", 9),
        (variant.pk, 3, "correction", 5),
    ]


def test_restock_frees_what_is_committed_once(variant):
    reserve((variant, 4))
    reservations.commit(checkout_id=CHECKOUT)

    reservations.restock(checkout_id=CHECKOUT)
    reservations.restock(checkout_id=CHECKOUT)

    assert stock_of(variant) == (10, 0, 0)
    assert statuses() == [(CHECKOUT, 4, "released")]


def test_restock_of_what_was_sent_out_changes_nothing(variant):
    reserve((variant, 4))
    reservations.commit(checkout_id=CHECKOUT)
    reservations.fulfill(checkout_id=CHECKOUT)

    reservations.restock(checkout_id=CHECKOUT)

    assert stock_of(variant) == (6, 0, 0)


def count_statements(work, **arguments) -> int:
    with CaptureQueriesContext(connection) as queries:
        work(**arguments)
    return len(queries)


@pytest.mark.parametrize("number", [1, 30])
def test_statements_do_not_depend_on_the_number_of_variants(shop, number):
    wanted = {make_variant(shop, stock=5).pk: 1 for _ in range(number)}

    counts = [
        count_statements(reservations.reserve, checkout_id=CHECKOUT, wanted=wanted, now=timezone.now()),
        count_statements(reservations.commit, checkout_id=CHECKOUT),
        count_statements(reservations.fulfill, checkout_id=CHECKOUT),
        count_statements(reservations.reserve, checkout_id=OTHER_CHECKOUT, wanted=wanted, now=timezone.now()),
        count_statements(
            reservations.reserve,
            checkout_id=73,
            wanted=wanted,
            instead_of=[OTHER_CHECKOUT],
            now=timezone.now(),
        ),
        count_statements(reservations.release, checkout_ids=[73]),
    ]

    assert counts == [2, 1, 3, 2, 4, 1]
