"""Sweeps with rows that can't be processed."""

from datetime import timedelta

import pytest
from django.utils import timezone

from checkouts import sweeping
from checkouts.models import Checkout, CheckoutLineItem
from checkouts.sweeping import sweep_overdue_checkouts
from checkouts.tasks import sweep
from commerce.inventory.models import InventoryLevel
from commerce.loops.models import PostponedRow
from commerce.orders.models import Order
from tests import factories
from tests.metrics import failures_of
from tests.poison import poisoned
from tests.storefront import checkout_in
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def overdue_checkout(shop, *, phase="payment", minutes=1):
    """Create an overdue checkout and return its id. The sweeper handles the oldest first."""
    checkout_id = int(checkout_in(phase, shop, (factories.make_variant(shop), 1))["id"])
    with shop.scope():
        expires_at = timezone.now() - timedelta(minutes=minutes)
        Checkout.objects.filter(pk=checkout_id).update(expires_at=expires_at)
    return checkout_id


def phases(shop):
    with shop.scope():
        return dict(Checkout.objects.values_list("pk", "phase"))


def postponed(shop):
    with shop.scope():
        return list(PostponedRow.objects.order_by("pk").values_list("loop", "row_id", "failures"))


def make_due(shop):
    with shop.scope():
        PostponedRow.objects.update(retry_at=timezone.now() - timedelta(seconds=1))


def reserved(shop):
    with shop.scope():
        return sum(InventoryLevel.objects.values_list("reserved", flat=True))


def test_overdue_checkouts_end_beside_one_that_can_not(shop, other_shop):
    bad = overdue_checkout(shop, minutes=60)
    good = [overdue_checkout(shop) for _ in range(3)]
    other = overdue_checkout(other_shop)
    before = failures_of("checkouts")

    with poisoned("checkouts", bad):
        assert sweep_overdue_checkouts(now=timezone.now()) == 5

        assert phases(shop) == {bad: "payment"} | dict.fromkeys(good, "abandoned")
        assert phases(other_shop) == {other: "abandoned"}
        assert (reserved(shop), reserved(other_shop)) == (1, 0)
        assert postponed(shop) == [("checkouts", bad, 1)]
        assert failures_of("checkouts") == before + 1
        assert sweep_overdue_checkouts(now=timezone.now()) == 0

        make_due(shop)
        assert sweep_overdue_checkouts(now=timezone.now()) == 1
        assert postponed(shop) == [("checkouts", bad, 2)]
    make_due(shop)
    sweep_overdue_checkouts(now=timezone.now())

    assert phases(shop)[bad] == "abandoned"
    assert (reserved(shop), postponed(shop)) == (0, [])


def test_paid_checkout_that_can_not_be_completed_is_postponed_and_the_others_get_their_orders(shop):
    """An invalid snapshot, as a broken deployment might leave it."""
    bad = overdue_checkout(shop, phase="ready", minutes=60)
    good = overdue_checkout(shop, phase="ready")
    with shop.scope():
        line = CheckoutLineItem.objects.get(checkout_id=bad)
        Checkout.objects.filter(pk=bad).update(shipping_address=["none"])

    sweep_overdue_checkouts(now=timezone.now())

    assert phases(shop) == {bad: "processing", good: "completed"}
    assert postponed(shop) == [("checkouts", bad, 1)]
    assert sweep_overdue_checkouts(now=timezone.now()) == 0
    with shop.scope():
        assert [order.checkout_id for order in Order.objects.all()] == [good]
        assert CheckoutLineItem.objects.get(pk=line.pk).checkout_id == bad
        Checkout.objects.filter(pk=bad).update(shipping_address={"country_code": "DE"})
    make_due(shop)
    sweep_overdue_checkouts(now=timezone.now())
    assert (phases(shop)[bad], postponed(shop)) == ("completed", [])


def test_batch_of_nothing_but_poison_does_not_keep_the_others_out(shop, other_shop, monkeypatch):
    monkeypatch.setattr(sweeping, "BATCH", 3)
    monkeypatch.setattr("checkouts.tasks.BATCH", 3)
    bad = [overdue_checkout(shop, minutes=60) for _ in range(4)]
    good = overdue_checkout(shop)
    other = overdue_checkout(other_shop)

    with poisoned("checkouts", *bad):
        sweep()

        assert phases(shop) == dict.fromkeys(bad, "payment") | {good: "abandoned"}
        assert phases(other_shop) == {other: "abandoned"}


def test_accounts_take_turns_in_a_batch(shop, other_shop, monkeypatch):
    monkeypatch.setattr(sweeping, "BATCH", 2)
    for _ in range(3):
        overdue_checkout(shop, minutes=60)
    other = overdue_checkout(other_shop)

    assert sweep_overdue_checkouts(now=timezone.now()) == 2

    assert phases(other_shop) == {other: "abandoned"}
    assert sorted(phases(shop).values()) == ["abandoned", "payment", "payment"]


def test_two_sweepers_that_meet_a_poisoned_row_end_all_the_others(shop):
    bad = overdue_checkout(shop, minutes=60)
    good = [overdue_checkout(shop) for _ in range(4)]

    with poisoned("checkouts", bad):
        run_threads(2, lambda _: sweep_overdue_checkouts(now=timezone.now()))

        assert phases(shop) == {bad: "payment"} | dict.fromkeys(good, "abandoned")
