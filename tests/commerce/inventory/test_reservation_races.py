"""Concurrent reservations with real threads: nothing is sold twice, and nothing deadlocks."""

import pytest
from django.utils import timezone

from commerce.catalog.models import Variant
from commerce.inventory import reservations
from commerce.inventory.errors import InsufficientInventory
from commerce.inventory.models import InventoryLevel, Reservation
from tests.factories import make_variant
from tests.shops import Shop
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def reserve(shop: Shop, checkout_id: int, *variants: Variant, **options) -> None:
    with shop.scope():
        reservations.reserve(
            checkout_id=checkout_id,
            wanted={variant.pk: 1 for variant in variants},
            now=timezone.now(),
            **options,
        )


def level_of(shop: Shop, variant: Variant) -> InventoryLevel:
    with shop.scope():
        return InventoryLevel.objects.get(variant=variant)


def test_fifty_checkouts_of_the_last_ten_units_get_exactly_ten(shop):
    variant = make_variant(shop, stock=10)

    results = run_threads(50, lambda index: reserve(shop, index + 1, variant))

    refusals = [result for result in results if result is not None]
    assert len(refusals) == 40
    assert {type(refusal) for refusal in refusals} == {InsufficientInventory}
    assert level_of(shop, variant).reserved == 10


def test_variants_wanted_in_opposite_orders_do_not_deadlock(shop):
    first, second = make_variant(shop, stock=100), make_variant(shop, stock=100)

    results = run_threads(
        20, lambda index: reserve(shop, index + 1, *([first, second] if index % 2 else [second, first]))
    )

    assert results == [None] * 20
    assert level_of(shop, first).reserved == level_of(shop, second).reserved == 20


def test_checkouts_that_replace_others_do_not_deadlock(shop):
    first, second = make_variant(shop, stock=100), make_variant(shop, stock=100)
    for index in range(16):
        reserve(shop, index + 1, second if index % 2 else first)

    results = run_threads(
        16,
        lambda index: reserve(
            shop, index + 101, *([first, second] if index % 2 else [second]), instead_of=[index + 1]
        ),
    )

    assert results == [None] * 16
    assert (level_of(shop, first).reserved, level_of(shop, second).reserved) == (8, 16)


def test_backorders_without_a_level_make_one_row(shop):
    variants = [make_variant(shop, stock=None, allow_backorder=True) for _ in range(3)]

    results = run_threads(
        12, lambda index: reserve(shop, index + 1, *(variants if index % 2 else variants[::-1]))
    )

    assert results == [None] * 12
    assert [level_of(shop, variant).reserved for variant in variants] == [12, 12, 12]


def test_one_reservation_committed_and_released_at_once_moves_once(shop):
    variant = make_variant(shop, stock=10)
    reserve(shop, 1, variant)

    def move(index: int) -> None:
        with shop.scope():
            if index % 2:
                reservations.commit(checkout_id=1)
            else:
                reservations.release(checkout_ids=[1])

    assert run_threads(8, move) == [None] * 8

    level = level_of(shop, variant)
    with shop.scope():
        status = Reservation.objects.get().status
    assert (level.reserved, level.committed, status) in {(0, 0, "released"), (0, 1, "committed")}
