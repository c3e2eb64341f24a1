"""Publishing an event creates a dispatch for each endpoint subscribed to it."""

from datetime import UTC, datetime
from itertools import chain

import pytest
from django.db import IntegrityError, transaction

from commerce.events.models import Event
from commerce.events.operations import publish, publish_many
from commerce.outbox.listener import CHANNEL, connect_directly
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import enqueue
from tests.commerce.webhooks.rows import dispatches_of, make_endpoint, make_event
from tests.threads import run_threads

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def test_event_is_enqueued_for_each_endpoint_that_asks_for_it(shop):
    everything = make_endpoint(shop, url="https://93.184.216.34/all")
    orders = make_endpoint(shop, url="https://93.184.216.34/orders", topics=["order.cancelled", "order.paid"])
    make_endpoint(shop, url="https://93.184.216.34/emails", topics=["email.sent"])
    make_endpoint(shop, url="https://93.184.216.34/paused", status="paused", paused_at=NOW)

    event = make_event(shop, "order.paid")

    assert [(row.idempotency_key, row.payload) for row in dispatches_of(shop)] == [
        (f"webhook/{row.pk}/{event.pk}", {"endpoint_id": row.pk, "event_id": event.pk})
        for row in (everything, orders)
    ]


def test_dispatch_is_like_one_that_was_enqueued(shop):
    make_endpoint(shop)

    with shop.scope():
        publish(type="order.paid", data={}, now=NOW)
        enqueue(task_name="deliver_webhook", payload={}, idempotency_key="by-hand", now=NOW)

    (ours, by_hand) = map(vars, dispatches_of(shop))
    own = {"_state", "id", "payload", "idempotency_key", "created_at"}
    assert {name: ours[name] for name in ours.keys() - own} == {
        name: by_hand[name] for name in by_hand.keys() - own
    }


@pytest.mark.django_db(transaction=True)
def test_event_without_an_endpoint_enqueues_and_announces_nothing(shop):
    make_endpoint(shop, topics=["email.sent"])

    with connect_directly() as listener:
        listener.execute(f"LISTEN {CHANNEL}")
        make_event(shop, "order.paid")

        assert list(listener.notifies(timeout=0.2)) == []
    assert dispatches_of(shop) == []


def test_event_reaches_no_endpoint_of_another_account(shop, other_shop):
    make_endpoint(other_shop)

    make_event(shop)

    assert (dispatches_of(shop), dispatches_of(other_shop)) == ([], [])


@pytest.mark.parametrize("number", [0, 1, 2])
def test_publication_is_one_statement_for_any_number_of_endpoints(shop, django_assert_num_queries, number):
    for index in range(number):
        make_endpoint(shop, url=f"https://93.184.216.34/{index}")

    with shop.scope(), django_assert_num_queries(1):
        publish(type="order.paid", data={}, now=NOW)
    with shop.scope(), django_assert_num_queries(1):
        publish_many(occurrences=[("order.paid", {}), ("voucher.redeemed", {})], now=NOW)

    assert len(dispatches_of(shop)) == 3 * number


def test_events_are_enqueued_for_an_endpoint_in_their_order(shop):
    make_endpoint(shop)

    with shop.scope():
        publish_many(occurrences=[("voucher.redeemed", {}), ("voucher.depleted", {})], now=NOW)
        events = Event.objects.order_by("pk")

        assert [event.type for event in events] == ["voucher.redeemed", "voucher.depleted"]
    assert [row.payload["event_id"] for row in dispatches_of(shop)] == [event.pk for event in events]


def test_event_that_is_rolled_back_enqueues_nothing(shop):
    make_endpoint(shop)

    with shop.scope():
        savepoint = transaction.savepoint()
        publish(type="order.paid", data={}, now=NOW)
        transaction.savepoint_rollback(savepoint)

    assert dispatches_of(shop) == []


def test_event_of_a_type_that_is_not_listed_is_not_published(shop):
    with shop.scope(), pytest.raises(ValueError, match="not a valid EventType"):
        publish(type="order.forgotten", data={}, now=NOW)

    with shop.scope():
        assert not Event.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_publishers_at_once_enqueue_each_event_once(shop):
    for index in range(2):
        make_endpoint(shop, url=f"https://93.184.216.34/{index}")

    events = run_threads(4, lambda _: [make_event(shop).pk for _ in range(5)])

    enqueued = sorted(row.payload["event_id"] for row in dispatches_of(shop))
    assert enqueued == sorted([*chain(*events), *chain(*events)])


@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        ({"status": "paused"}, "webhook_endpoints_paused_at"),
        ({"status": "disabled", "paused_at": NOW}, "webhook_endpoints_disabled_reason"),
        ({"disabled_reason": "gone"}, "webhook_endpoints_disabled_reason"),
        ({"consecutive_failures": 1}, "webhook_endpoints_failing_since"),
        ({"failing_since": NOW}, "webhook_endpoints_failing_since"),
    ],
)
def test_endpoint_in_a_state_that_is_none_can_not_be_stored(shop, values, constraint):
    with pytest.raises(IntegrityError, match=constraint):
        make_endpoint(shop, **values)


def test_dispatches_of_two_endpoints_have_keys_of_their_own(shop):
    for index in range(2):
        make_endpoint(shop, url=f"https://93.184.216.34/{index}")

    make_event(shop)

    with shop.scope():
        assert OutboxDispatch.objects.values("idempotency_key").distinct().count() == 2
