"""POST /webhooks/stripe/{account_id}."""

import time

import orjson
import pytest
from django.test import Client
from django.utils import timezone
from stripe import WebhookSignature

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests.problems import problem


def event_of(stripe, kind="checkout.session.completed", **changes):
    session = {**stripe.session, **changes}
    return {"id": "evt_1", "object": "event", "type": kind, "data": {"object": session}}


def send(shop, event, *, key="whsec_secret", at=None, header=None):
    body = event if isinstance(event, bytes) else orjson.dumps(event)
    if header is None:
        signed = body.decode(errors="replace")
        header = WebhookSignature.generate_signature_header(signed, key, at or int(time.time()))
    return Client(raise_request_exception=False).post(
        f"/webhooks/stripe/{getattr(shop, 'id', shop)}",
        body,
        content_type="application/json",
        headers={"Stripe-Signature": header},
    )


def dispatches(shop):
    with shop.scope():
        return list(OutboxDispatch.objects.values_list("target__task_name", "status"))


@pytest.fixture
def started(till, stripe):
    payment = till("stripe")
    payment.start()
    return payment


def test_completed_session_makes_the_checkout_ready_without_its_customer(started, stripe):
    stripe.pay()

    answer = send(started.shop, event_of(stripe))
    run_due()

    assert (answer.status_code, answer.json()) == (200, {"received": True})
    assert started.shown["ready_to_complete"] is True
    assert started.complete().status_code == 200


def test_event_is_a_hint_and_stripe_is_asked(started, stripe):
    send(started.shop, event_of(stripe, status="complete", payment_status="paid"))
    run_due()

    assert started.shown["ready_to_complete"] is False


def test_event_sent_again_does_nothing_more(started, stripe):
    stripe.pay()

    answers = [send(started.shop, event_of(stripe)) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert dispatches(started.shop) == [("settle_payment", "pending")]


def test_event_after_the_customers_own_confirmation_changes_nothing(started, stripe):
    stripe.pay()
    before = started.confirm().json()["checkout"]

    send(started.shop, event_of(stripe))
    run_due()

    assert started.shown == before
    assert dispatches(started.shop) == [("settle_payment", "skipped")]


def test_expired_session_fails_the_attempt(started, stripe):
    stripe.session["status"] = "expired"

    send(started.shop, event_of(stripe, "checkout.session.expired"))
    run_due()

    assert (started.shown["phase"], started.shown["failure_code"]) == ("failed", "payment_abandoned")


def test_event_finds_the_session_of_a_start_whose_answer_was_lost(till, stripe):
    payment = till("stripe")
    stripe.fail_next("timeout", after=True)
    payment.start()
    stripe.pay()

    send(payment.shop, event_of(stripe))
    run_due()

    assert payment.shown["ready_to_complete"] is True
    assert stripe.calls == ["POST /v1/checkout/sessions", "GET /v1/checkout/sessions/cs_test_1"]


def test_event_that_can_not_be_settled_now_is_tried_again(started, stripe):
    stripe.pay()
    stripe.fail_next(500)

    send(started.shop, event_of(stripe))
    run_due()
    waiting = dispatches(started.shop)
    with started.shop.scope():
        OutboxDispatch.objects.update(due_at=timezone.now())
    run_due()

    assert waiting == [("settle_payment", "pending")]
    assert started.shown["ready_to_complete"] is True


@pytest.mark.parametrize(
    "change",
    [
        {"type": "payment_intent.succeeded"},
        {"type": 7},
        {"data": None},
        {"data": {"object": []}},
        {"data": {"object": {"id": "cs_1"}}},
        {"data": {"object": {"id": "cs_1", "metadata": {"account_id": "1", "attempt_id": "1"}}}},
    ],
)
def test_event_about_something_else_is_ignored(started, stripe, change):
    answer = send(started.shop, event_of(stripe) | change)

    assert (answer.status_code, answer.json()) == (200, {"received": True, "ignored": True})
    assert dispatches(started.shop) == []


@pytest.mark.parametrize("attempt_id", ["", "x", "-1", "9" * 19, "\u0661", None, 1, []])
def test_event_of_no_attempt_is_ignored(started, stripe, attempt_id):
    metadata = stripe.session["metadata"] | {"attempt_id": attempt_id}

    answer = send(started.shop, event_of(stripe, metadata=metadata))

    assert answer.status_code == 200
    run_due()
    assert set(dispatches(started.shop)) <= {("settle_payment", "skipped"), ("settle_payment", "succeeded")}


@pytest.mark.parametrize(
    "header",
    ["", "t=1", "v1=abc", "t=x,v1=abc", "t=1,v1=é", f"t={'9' * 5000},v1=a", "t=1,v1=" + "0" * 64],
)
def test_bad_signature_is_refused(started, stripe, header):
    answer = send(started.shop, event_of(stripe), header=header)

    assert problem(answer) == (401, "invalid_signature")
    assert dispatches(started.shop) == []


def test_signature_of_another_secret_or_of_long_ago_is_refused(started, stripe):
    foreign = send(started.shop, event_of(stripe), key="whsec_other")
    old = send(started.shop, event_of(stripe), at=int(time.time()) - 301)

    assert problem(foreign) == problem(old) == (401, "invalid_signature")
    assert dispatches(started.shop) == []


def test_account_without_a_secret_and_no_account_refuse_alike(started, stripe, other_shop):
    without = send(other_shop, event_of(stripe), key="")
    nobody = send(2**62, event_of(stripe))

    assert problem(without) == problem(nobody) == (401, "invalid_signature")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"id": ""}', b'{"id": 7}', b'{"id": "a\\u0000"}']
)
def test_signed_body_that_is_no_event_is_refused(pay_shop, body):
    assert problem(send(pay_shop, body)) == (400, "malformed_request")


def test_body_that_is_no_text_is_refused(pay_shop):
    assert problem(send(pay_shop, b"\xff{}")) == (401, "invalid_signature")


def test_body_that_is_too_large_is_refused(pay_shop):
    assert problem(send(pay_shop, b" " * (1024 * 1024 + 1))) == (413, "body_too_large")


def test_nothing_but_post_is_taken(pay_shop):
    answer = Client().get(f"/webhooks/stripe/{pay_shop.id}")

    assert problem(answer) == (405, "method_not_allowed")
    assert answer["Allow"] == "POST"
