"""How failures and slow answers affect an endpoint: it rests, and is disabled in the end."""

import socket
from datetime import timedelta
from threading import Event as Signal

import pytest
from django.utils import timezone

from commerce.events.envelope import make_envelope
from commerce.events.models import Event
from commerce.outbox.worker import run_due
from commerce.outside.http import Answer
from commerce.versions import current_version
from commerce.webhooks import operations, recording
from commerce.webhooks.messages import Message
from commerce.webhooks.models import WebhookEndpoint
from commerce.webhooks.recording import record_delivery, record_ping
from tests.commerce.webhooks.rows import dispatches_of, log_of, make_endpoint, make_event, reread, run_all
from tests.threads import run_threads


def nowhere():
    """Return a URL where nothing answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}/"


def events_of(shop, name):
    with shop.scope():
        return list(Event.objects.filter(type=name))


def test_delivery_with_a_success_forgets_failures(shop, endpoint, receiver):
    receiver.status = 500
    make_event(shop)
    run_due()
    assert reread(shop, endpoint).consecutive_failures == 1
    receiver.status = 200

    run_all(shop)

    endpoint = reread(shop, endpoint)
    assert (endpoint.consecutive_failures, endpoint.failing_since, endpoint.rests_until) == (0, None, None)


def test_delivery_without_an_answer_gives_the_endpoint_a_rest(shop, receiver):
    endpoint = make_endpoint(shop, url=nowhere())
    for _ in range(3):
        make_event(shop)

    run_due()

    (delivery,) = log_of(shop)
    assert (delivery.status, delivery.response_status) == ("failed", None)
    assert "Connection refused" in delivery.error
    tried, *left = dispatches_of(shop)
    assert (tried.status, tried.attempts) == ("pending", 1)
    assert [(row.status, row.attempts) for row in left] == [("pending", 0)] * 2
    assert {row.due_at for row in left} == {reread(shop, endpoint).rests_until}
    assert {row.last_error for row in left} == {"The endpoint rests, as it gave no answer or a slow one."}


@pytest.mark.parametrize(
    ("failures", "seconds"), [(1, 30), (2, 60), (4, 240), (5, 480), (6, 600), (1_000_000, 600)]
)
def test_rest_grows_with_the_failures(failures, seconds):
    assert recording._choose_rest(failures) == timedelta(seconds=seconds)


def test_delivery_that_is_gone_disables_the_endpoint(shop, endpoint, receiver):
    receiver.status = 410
    make_event(shop)
    make_event(shop)

    run_due()

    endpoint = reread(shop, endpoint)
    assert (endpoint.status, endpoint.disabled_reason) == ("disabled", "gone")
    assert endpoint.paused_at is not None
    assert [row.status for row in dispatches_of(shop)] == ["dead", "skipped"]
    (event,) = events_of(shop, "webhook_endpoint.disabled")
    assert event.data == {
        "webhook_endpoint_id": str(endpoint.pk),
        "url": receiver.url,
        "reason": "gone",
        "failing_since": make_envelope(event, current_version())["occurred_at"],
    }


def test_endpoint_that_fails_for_days_is_disabled_and_the_others_are_told(shop, endpoint, receiver, settings):
    settings.WEBHOOKS_DISABLE_AFTER_HOURS = 72
    other = make_endpoint(shop, topics=["webhook_endpoint.disabled"])
    receiver.status = 500
    since = timezone.now() - timedelta(hours=72)
    with shop.scope():
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(consecutive_failures=11, failing_since=since)
    make_event(shop)

    run_due()

    endpoint = reread(shop, endpoint)
    assert (endpoint.status, endpoint.disabled_reason) == ("disabled", "failing")
    (event,) = events_of(shop, "webhook_endpoint.disabled")
    assert [row.payload for row in dispatches_of(shop)][1:] == [
        {"endpoint_id": other.pk, "event_id": event.pk}
    ]


@pytest.mark.parametrize(("failures", "hours"), [(10, 100), (100, 71)])
def test_endpoint_that_failed_seldom_or_not_for_long_stays_active(shop, endpoint, receiver, failures, hours):
    receiver.status = 500
    since = timezone.now() - timedelta(hours=hours)
    with shop.scope():
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
            consecutive_failures=failures, failing_since=since
        )
    make_event(shop)

    run_due()

    endpoint = reread(shop, endpoint)
    assert (endpoint.status, endpoint.consecutive_failures) == ("active", failures + 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("end", ["pause", "delete"])
def test_endpoint_that_is_paused_or_deleted_during_a_delivery_stays_so(
    shop, endpoint, receiver, httpserver, status, end
):
    receiver.status = status
    answer = receiver.__call__

    def rival(request):
        def work(_):
            with shop.scope():
                if end == "pause":
                    operations.pause_endpoint(endpoint_id=endpoint.pk, now=timezone.now())
                else:
                    operations.delete_endpoint(endpoint_id=endpoint.pk)

        assert run_threads(1, work) == [None]
        return answer(request)

    httpserver.clear()
    httpserver.expect_request("/hook").respond_with_handler(rival)
    make_event(shop)

    run_due()

    with shop.scope():
        left = list(WebhookEndpoint.objects.values_list("status", "consecutive_failures"))
    assert left == ([("paused", 0)] if end == "pause" else [])
    assert len(log_of(shop)) == len(left)
    assert dispatches_of(shop)[0].status == ("succeeded" if status == 200 else "pending")


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_count_every_failure(shop, endpoint, receiver):
    receiver.status = 500
    for _ in range(8):
        make_event(shop)

    run_threads(4, lambda _: run_due())

    assert reread(shop, endpoint).consecutive_failures == 8
    assert len(log_of(shop)) == 8


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("status", [200, 500])
def test_delivery_is_logged_while_another_one_is_being_recorded(shop, endpoint, status):
    """Deliveries to a healthy endpoint never wait for its row. A failure waits only to be counted, at the very end."""
    answer = Answer(status=status, excerpt="", error="", duration_ms=7)
    may_end, has_logged = Signal(), Signal()

    def record(index):
        message = Message(id=f"m{index}", type="order.paid", body=b"")
        with shop.scope():
            record_ping(endpoint_id=endpoint.pk, message=message, answer=answer, now=timezone.now())
            record_delivery(
                endpoint_id=endpoint.pk,
                message=message,
                attempt=1,
                answer=answer if index else Answer(status=200, excerpt="", error="", duration_ms=7),
                now=timezone.now(),
            )
            if index == 0:
                has_logged.set()
                assert may_end.wait(timeout=30)
        if index == 1:
            may_end.set()

    def wait_for_the_first(index):
        if index:
            assert has_logged.wait(timeout=30)
        record(index)

    assert run_threads(2, wait_for_the_first) == [None, None]
    assert len(log_of(shop)) == 4
    assert reread(shop, endpoint).consecutive_failures == (0 if status == 200 else 1)


@pytest.mark.django_db(transaction=True)
def test_delivery_that_succeeds_waits_for_nobody_who_changes_the_endpoint(shop, endpoint):
    def record(index):
        with shop.scope():
            if index == 0:
                operations.update_endpoint(
                    endpoint_id=endpoint.pk, changes={"description": "New"}, now=timezone.now()
                )
                is_changed.set()
                assert is_recorded.wait(timeout=30)
            else:
                assert is_changed.wait(timeout=30)
                record_delivery(
                    endpoint_id=endpoint.pk,
                    message=Message(id="m", type="order.paid", body=b""),
                    attempt=1,
                    answer=Answer(status=200, excerpt="", error="", duration_ms=7),
                    now=timezone.now(),
                )
                is_recorded.set()

    is_changed, is_recorded = Signal(), Signal()

    assert run_threads(2, record) == [None, None]
    assert len(log_of(shop)) == 1


@pytest.mark.parametrize(("status", "failures"), [(200, 0), (500, 1)])
def test_endpoint_that_is_slow_rests(shop, endpoint, status, failures):
    now = timezone.now()
    with shop.scope():
        record_delivery(
            endpoint_id=endpoint.pk,
            message=Message(id="m", type="order.paid", body=b""),
            attempt=1,
            answer=Answer(status=status, excerpt="", error="", duration_ms=recording.SLOW_MS),
            now=now,
        )

    endpoint = reread(shop, endpoint)
    assert (endpoint.consecutive_failures, endpoint.rests_until) == (failures, now + recording.FIRST_REST)


def test_slow_endpoint_that_rests_is_not_called(shop, endpoint, receiver):
    until = timezone.now() + timedelta(seconds=30)
    with shop.scope():
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(rests_until=until)
    make_event(shop)

    run_due()

    assert receiver.requests == []
    (left,) = dispatches_of(shop)
    assert (left.status, left.attempts, left.due_at) == ("pending", 0, until)
