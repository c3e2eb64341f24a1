from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from checkouts.models import Checkout
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from tests import factories
from tests.copies import analyze, copy
from tests.storefront import checkout_in


def overdue(*shops):
    for shop in shops:
        with shop.scope():
            Checkout.objects.update(expires_at=timezone.now() - timedelta(hours=1))


def reserved(shop):
    with shop.scope():
        return InventoryLevel.objects.get().reserved


def test_overdue_checkouts_of_every_account_are_abandoned_and_release_their_stock(shop, other_shop):
    for place in (shop, other_shop):
        checkout_in("payment", place, (factories.make_variant(place), 3))
    overdue(shop, other_shop)

    swept = sweep_overdue_checkouts(now=timezone.now())

    assert swept == 2
    for place in (shop, other_shop):
        assert reserved(place) == 0
        with place.scope():
            assert Checkout.objects.get().phase == "abandoned"
        types = [event["type"] for event in place.admin.get("events.json").json()["events"]]
        assert types == ["checkout.created", "checkout.abandoned"]
    assert sweep_overdue_checkouts(now=timezone.now()) == 0


def test_checkouts_whose_time_is_not_over_are_left_alone(shop):
    checkout_in("processing", shop, (factories.make_variant(shop), 3))

    assert sweep_overdue_checkouts(now=timezone.now()) == 0
    assert reserved(shop) == 3


def test_paid_checkout_whose_customer_did_not_come_back_is_completed(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 3))
    overdue(shop)

    sweep_overdue_checkouts(now=timezone.now())

    shown = shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"]
    assert shown["phase"] == "completed"
    with shop.scope():
        assert Order.objects.get().checkout_id == int(checkout["id"])


@pytest.mark.django_db(transaction=True)
def test_sweep_reads_no_checkout_that_has_ended(shop):
    checkout_in("payment", shop, (factories.make_variant(shop), 1))
    overdue(shop)
    checkout_in("completed", shop, (factories.make_variant(shop), 1))
    with shop.scope():
        ended = Checkout.objects.get(phase="completed")
        copy(
            ended,
            2000,
            id="t.id + i",
            token="t.token || i",
            completion_key="NULL",
            expires_at="now() - i * interval '1 s'",
        )
    analyze("checkouts")

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM overdue_checkouts(500)")
        found = cursor.fetchone()[0]
        cursor.execute(
            "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'checkouts'"
        )
        read = cursor.fetchone()[0]

    assert found == 1
    # The row and its earlier versions.
    assert read < 100
