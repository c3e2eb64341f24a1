"""`manage.py reconcile`: finds rows that are stuck for ever."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from checkouts.models import Checkout
from commerce.loops.models import PostponedRow
from commerce.outbox.models import OutboxDispatch
from commerce.rest.models import IdempotencyRecord
from commerce.webhooks.models import WebhookEndpoint
from discounts.models import Voucher
from tests import factories
from tests.checkouts.reconciliation.command import difference, reconcile
from tests.storefront import checkout_in

LONG_AGO = datetime(2026, 1, 2, tzinfo=UTC)
SHOWN = "2026-01-02 00:00:00+00:00"


@pytest.fixture
def checkout(shop):
    return checkout_in("payment", shop, (factories.make_variant(shop), 1))


def change(shop, model, **columns):
    with shop.scope():
        model.objects.update(**columns)


def test_checkout_that_was_not_swept_is_found(shop, checkout):
    change(shop, Checkout, expires_at=LONG_AGO)

    assert difference(shop) == (
        f"checkout {checkout['id']} is still payment, though its time was over at {SHOWN}"
    )


@pytest.mark.parametrize(
    "columns",
    [
        {"expires_at": LONG_AGO, "sweep_after": timezone.now() + timedelta(hours=20)},
        {"expires_at": timezone.now() - timedelta(minutes=30)},
    ],
)
def test_checkout_that_waits_for_its_sweep_agrees(shop, checkout, columns):
    change(shop, Checkout, **columns)

    assert reconcile(shop) == []


def test_checkout_whose_gateway_was_waited_for_too_long_is_found(shop, checkout):
    change(shop, Checkout, expires_at=LONG_AGO, sweep_after=LONG_AGO + timedelta(days=1))

    assert len(reconcile(shop)) == 1


@pytest.mark.parametrize(
    "columns", [{"status": "pending", "due_at": LONG_AGO}, {"status": "processing", "locked_until": LONG_AGO}]
)
def test_dispatch_that_nobody_runs_is_found(shop, columns):
    dispatch = factories.make_dispatch(shop, target={"task_name": "send_email"}, **columns)

    assert difference(shop) == (
        f"dispatch {dispatch.pk} of send_email is still {columns['status']}, though it was due at {SHOWN}"
    )


@pytest.mark.parametrize("columns", [{"status": "dead"}, {"status": "pending", "finished_at": LONG_AGO}])
def test_dispatch_that_is_never_pruned_or_never_run_is_found(shop, columns):
    dispatch = factories.make_dispatch(shop, target={"task_name": "send_email"}, **columns)

    assert difference(shop) == (
        f"dispatch {dispatch.pk} of send_email is {columns['status']}, which contradicts its finished_at"
    )


def test_gift_card_that_was_not_expired_is_found(shop):
    card = factories.make_voucher(shop)
    change(shop, Voucher, expires_at=LONG_AGO)

    assert difference(shop) == f"voucher {card.pk} is still active, though it expired at {SHOWN}"


@pytest.mark.parametrize(("status", "number"), [(0, 1), (201, 0)])
def test_claim_of_a_key_that_is_never_answered_is_found(shop, status, number):
    with shop.scope():
        record = IdempotencyRecord.objects.create(
            surface="admin", key="k", fingerprint=b"f", status=status, body=b""
        )
    change(shop, IdempotencyRecord, created_at=LONG_AGO)

    expected = f"idempotency record {record.pk} was claimed at {SHOWN} and never answered"
    assert reconcile(shop) == [expected] * number


def test_endpoint_that_rests_for_ever_is_found(shop):
    with shop.scope():
        endpoint = WebhookEndpoint.objects.create(
            url="https://example.com/", secret="s", rests_until=datetime(2100, 1, 1, tzinfo=UTC)
        )

    assert difference(shop) == (
        f"webhook endpoint {endpoint.pk} rests until 2100-01-01 00:00:00+00:00,"
        " which is longer than any rest lasts"
    )


FAR = datetime(2100, 1, 2, tzinfo=UTC)
SHOWN_FAR = "2100-01-02 00:00:00+00:00"


@pytest.mark.parametrize("column", ["expires_at", "sweep_after"])
def test_checkout_that_is_not_swept_for_years_is_found(shop, checkout, column):
    change(shop, Checkout, **{column: FAR})

    assert difference(shop) == (
        f"checkout {checkout['id']} has {column} {SHOWN_FAR}, which is too far in the future"
    )


@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ({"status": "pending", "due_at": FAR}, "due_at"),
        ({"status": "processing", "locked_until": FAR}, "locked_until"),
    ],
)
def test_dispatch_that_is_not_run_for_years_is_found(shop, columns, column):
    dispatch = factories.make_dispatch(shop, target={"task_name": "send_email"}, **columns)

    assert difference(shop) == (
        f"dispatch {dispatch.pk} has {column} {SHOWN_FAR}, which is too far in the future"
    )


def test_row_that_is_postponed_for_years_is_found(shop):
    with shop.scope():
        row = PostponedRow.objects.create(loop="checkouts", row_id=1, retry_at=FAR)

    assert difference(shop) == (
        f"postponed row {row.pk} has retry_at {SHOWN_FAR}, which is too far in the future"
    )


def test_claim_from_the_future_is_found(shop):
    with shop.scope():
        record = IdempotencyRecord.objects.create(
            surface="storefront", key="k", fingerprint=b"f" * 32, status=0, body=b"", created_at=FAR
        )
        IdempotencyRecord.objects.update(created_at=FAR)

    assert difference(shop) == (
        f"idempotency record {record.pk} has created_at {SHOWN_FAR}, which is too far in the future"
    )


def test_dispatch_of_a_task_that_nothing_runs_is_found(shop):
    dispatch = factories.make_dispatch(shop, target={"task_name": "nope"})
    assert reconcile(shop) == []
    change(shop, OutboxDispatch, created_at=timezone.now() - timedelta(hours=2), due_at=timezone.now())

    assert difference(shop) == f"dispatch {dispatch.pk} is pending, but nothing runs its task nope"
