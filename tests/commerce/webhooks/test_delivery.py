"""From a dispatch to a signed request and the log."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from commerce.events.envelope import make_envelope
from commerce.outbox.worker import run_due
from commerce.versions import current_version
from commerce.webhooks import handlers, operations
from config.versions import CURRENT_VERSION
from tests.commerce.webhooks.rows import dispatches_of, log_of, make_due, make_event, reread, run_all


def test_delivery_sends_the_signed_envelope(shop, endpoint, receiver, verified):
    event = make_event(shop, "order.paid", order_id="7", total_cents="1990")

    run_due()

    (request,) = receiver.requests
    assert request.get_json() == make_envelope(event, current_version())
    assert request.headers["webhook-id"] == str(event.pk)
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["User-Agent"] == "Commerce-Webhooks/1.0"
    assert verified(request, endpoint.secret)
    assert not verified(request, "whsec_" + "A" * 44)


def test_delivery_that_succeeds_is_logged_with_the_end_of_its_dispatch(shop, endpoint, receiver):
    receiver.body = "thank you"
    event = make_event(shop)

    run_due()

    (delivery,) = log_of(shop)
    assert (delivery.endpoint_id, delivery.message_id) == (endpoint.pk, str(event.pk))
    assert (delivery.event_type, delivery.attempt, delivery.status) == ("order.paid", 1, "succeeded")
    assert (delivery.response_status, delivery.response_excerpt, delivery.error) == (200, "thank you", "")
    assert [row.status for row in dispatches_of(shop)] == ["succeeded"]


@pytest.mark.parametrize("status", [301, 400, 404, 500, 503])
def test_delivery_that_fails_is_retried_under_the_same_id(shop, endpoint, receiver, verified, status):
    receiver.status, receiver.body = status, "no"
    event = make_event(shop)
    run_due()
    (waiting,) = dispatches_of(shop)
    receiver.status = 204

    make_due(shop)
    run_due()

    assert (waiting.status, waiting.attempts) == ("pending", 1)
    assert waiting.last_error == f"DeliveryFailed: The endpoint answered {status}."
    assert receiver.ids == [str(event.pk)] * 2
    assert receiver.requests[0].get_data() == receiver.requests[1].get_data()
    assert all(verified(request, endpoint.secret) for request in receiver.requests)
    assert [(row.attempt, row.status, row.response_status) for row in log_of(shop)] == [
        (1, "failed", status),
        (2, "succeeded", 204),
    ]


def test_delivery_that_always_fails_ends_as_dead_after_five_retries(shop, endpoint, receiver):
    receiver.status = 500
    make_event(shop)

    run_all(shop)

    assert [row.status for row in dispatches_of(shop)] == ["dead"]
    assert [row.attempt for row in log_of(shop)] == [1, 2, 3, 4, 5, 6]
    endpoint = reread(shop, endpoint)
    assert (endpoint.status, endpoint.consecutive_failures) == ("active", 6)


def test_delivery_to_a_private_address_is_not_made(shop, endpoint, receiver, settings):
    settings.OUTSIDE_ALLOW_PRIVATE = False
    make_event(shop)

    run_due()

    (delivery,) = log_of(shop)
    assert (delivery.status, delivery.error) == ("failed", "The host is not at a public address.")
    assert receiver.requests == []


def test_delivery_is_signed_with_both_secrets_while_they_rotate(shop, endpoint, receiver, verified):
    old = endpoint.secret
    with shop.scope():
        new = operations.rotate_secret(endpoint_id=endpoint.pk, grace_seconds=3600, now=timezone.now()).secret
    make_event(shop)

    run_due()

    (request,) = receiver.requests
    assert len(request.headers["webhook-signature"].split(" ")) == 2
    assert verified(request, old)
    assert verified(request, new)


def test_delivery_is_signed_with_the_new_secret_alone_after_the_grace(shop, endpoint, receiver, verified):
    old = endpoint.secret
    long_ago = timezone.now() - timedelta(hours=2)
    with shop.scope():
        new = operations.rotate_secret(endpoint_id=endpoint.pk, grace_seconds=3600, now=long_ago).secret
    make_event(shop)

    run_due()

    (request,) = receiver.requests
    assert verified(request, new)
    assert not verified(request, old)


@pytest.mark.parametrize("end", [operations.pause_endpoint, operations.delete_endpoint])
def test_delivery_that_waits_is_skipped_once_its_endpoint_is_paused_or_deleted(shop, endpoint, receiver, end):
    make_event(shop)
    with shop.scope():
        end(endpoint_id=endpoint.pk, **({"now": timezone.now()} if end is operations.pause_endpoint else {}))

    run_due()

    assert receiver.requests == []
    assert [row.status for row in dispatches_of(shop)] == ["skipped"]


def test_ping_is_sent_once_also_to_a_paused_endpoint(shop, endpoint, receiver, verified):
    receiver.status = 500
    now = timezone.now()
    with shop.scope():
        operations.pause_endpoint(endpoint_id=endpoint.pk, now=now)
        message_id = operations.ping_endpoint(endpoint_id=endpoint.pk, now=now)

    run_due()

    (request,) = receiver.requests
    assert verified(request, endpoint.secret)
    assert request.get_json() | {"occurred_at": ""} == {
        "id": message_id,
        "type": "webhook_endpoint.ping",
        "api_version": CURRENT_VERSION,
        "account_id": str(shop.id),
        "occurred_at": "",
        "data": {"webhook_endpoint_id": str(endpoint.pk)},
    }
    (delivery,) = log_of(shop)
    assert (delivery.message_id, delivery.status) == (message_id, "failed")
    assert [row.status for row in dispatches_of(shop)] == ["succeeded"]
    assert reread(shop, endpoint).consecutive_failures == 0


def test_ping_of_an_endpoint_that_was_deleted_is_skipped(shop, endpoint, receiver):
    with shop.scope():
        operations.ping_endpoint(endpoint_id=endpoint.pk, now=timezone.now())
        operations.delete_endpoint(endpoint_id=endpoint.pk)

    run_due()

    assert receiver.requests == []
    assert [row.status for row in dispatches_of(shop)] == ["skipped"]


@pytest.mark.django_db(transaction=True)
def test_endpoint_is_called_without_a_transaction(shop, endpoint, monkeypatch):
    seen = []
    send = handlers.post
    monkeypatch.setattr(
        handlers,
        "post",
        lambda *args, **kwargs: seen.append(connection.in_atomic_block) or send(*args, **kwargs),
    )
    make_event(shop)

    run_due()

    assert seen == [False]
