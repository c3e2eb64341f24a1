"""`Idempotency-Key` on requests of several transactions."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.payments.stripe.gateway import StripeCheckout
from commerce.rest.models import IdempotencyRecord
from tests.problems import problem


def records(payment):
    with payment.shop.scope():
        return list(IdempotencyRecord.objects.values_list("status", flat=True))


def claimed_before(payment, age):
    with payment.shop.scope():
        IdempotencyRecord.objects.update(created_at=timezone.now() - age)


def test_same_start_again_replays_the_answer(till, stripe):
    payment = till("stripe")

    first, second = payment.start(idempotency_key="a"), payment.start(idempotency_key="a")

    assert second.content == first.content
    assert (first.status_code, second["Idempotent-Replayed"]) == (200, "true")
    assert stripe.calls == ["POST /v1/checkout/sessions"]


def test_same_confirmation_again_replays_the_answer_of_then(till, stripe):
    payment = till("stripe")
    payment.start()

    first = payment.confirm(idempotency_key="a")
    stripe.pay()
    second = payment.confirm(idempotency_key="a")
    third = payment.confirm(idempotency_key="b")

    assert second.content == first.content
    assert third.json()["checkout"]["ready_to_complete"] is True


def test_key_of_another_request_is_refused(till, stripe):
    payment = till("stripe")
    payment.start(idempotency_key="a")

    answer = payment.confirm(idempotency_key="a")

    assert problem(answer) == (422, "idempotency_key_reused")


def test_refused_request_leaves_its_key_free(till, stripe):
    payment = till("stripe")
    stripe.fail_next(400)

    refused = payment.start(idempotency_key="a")
    left = records(payment)
    payment.choose("stripe")
    started = payment.start(idempotency_key="a")

    assert (refused.status_code, left) == (502, [])
    assert (started.status_code, records(payment)) == (200, [200])


def test_request_in_flight_refuses_its_repetition(till, stripe, monkeypatch):
    payment = till("stripe")
    seen = []
    start = StripeCheckout.start

    def start_and_repeat(gateway, asked):
        seen.append(payment.start(idempotency_key="a"))
        return start(gateway, asked)

    monkeypatch.setattr(StripeCheckout, "start", start_and_repeat)

    answer = payment.start(idempotency_key="a")

    assert answer.status_code == 200
    assert [problem(one) for one in seen] == [(409, "request_in_progress")]


@pytest.mark.parametrize(
    ("age", "is_taken"), [(timedelta(seconds=110), True), (timedelta(seconds=130), False)]
)
def test_claim_of_a_process_that_died_holds_for_two_minutes(till, stripe, age, is_taken):
    payment = till("stripe")

    payment.start(idempotency_key="a")
    # As its process left it that died before it could store the answer.
    with payment.shop.scope():
        IdempotencyRecord.objects.update(status=0, body=b"")
    claimed_before(payment, age)

    answer = payment.start(idempotency_key="a")

    expected = (409, "request_in_progress") if is_taken else (409, "invalid_phase")
    assert problem(answer) == expected


def test_key_that_is_none_is_refused(till, stripe):
    assert problem(till("stripe").start(idempotency_key=" ")) == (400, "idempotency_key_invalid")
