"""`Idempotency-Key` on requests with several transactions."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.payments.stripe.gateway import StripeCheckout
from commerce.rest.models import IdempotencyRecord
from tests.checkouts.payments.conftest import URLS
from tests.problems import problem


def records(payment):
    with payment.shop.scope():
        return list(IdempotencyRecord.objects.values_list("status", flat=True))


def test_same_start_again_gets_the_same_answer(till, stripe):
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

    refused = [payment.confirm(idempotency_key="a")]
    payment.confirm({"cancel": True})
    # A repeated start that is refused doesn't free the key for other requests.
    again = payment.start(idempotency_key="a")
    refused.append(payment.confirm(idempotency_key="a"))

    assert problem(again) == (409, "invalid_phase")
    assert [problem(answer) for answer in refused] == [(422, "idempotency_key_reused")] * 2


def test_refused_request_leaves_its_key_free(till, stripe):
    payment = till("stripe")
    stripe.fail_next(400)

    refused = payment.start(idempotency_key="a")
    left = records(payment)
    payment.choose("stripe")
    started = payment.start(idempotency_key="a")

    assert (refused.status_code, left) == (502, [])
    assert (started.status_code, records(payment)) == (200, [200])


@pytest.mark.parametrize("is_repeated", [False, True])
def test_request_in_flight_refuses_its_repetition(till, stripe, monkeypatch, is_repeated):
    payment = till("stripe")
    if is_repeated:
        stripe.fail_next("reset", after=True)
        assert payment.start(idempotency_key="a").status_code == 502
    seen = []
    start = StripeCheckout.start

    def start_and_repeat(gateway, asked):
        seen.append(payment.start(idempotency_key="a"))
        return start(gateway, asked)

    monkeypatch.setattr(StripeCheckout, "start", start_and_repeat)

    answer = payment.start(idempotency_key="a")

    assert answer.status_code == 200
    assert [problem(one) for one in seen] == [(409, "request_in_progress")]


def leave_claim(payment, age):
    """Leave a claim like a process that died some time ago before storing its answer."""
    with payment.shop.scope():
        IdempotencyRecord.objects.update(status=0, body=b"", created_at=timezone.now() - age)


def test_claim_of_a_process_that_died_holds_for_two_minutes(till, stripe):
    payment = till("stripe")
    first = payment.start(idempotency_key="a")

    leave_claim(payment, timedelta(seconds=110))
    early = payment.start(idempotency_key="a")
    leave_claim(payment, timedelta(seconds=130))
    late = payment.start(idempotency_key="a")

    assert problem(early) == (409, "request_in_progress")
    assert (late.status_code, late.json()) == (200, first.json())
    assert stripe.calls == ["POST /v1/checkout/sessions"]
    assert len(payment.attempts) == 1


@pytest.mark.parametrize("method", ["cod", "test_card"])
def test_start_by_any_method_is_answered_again(till, method):
    payment = till(method)
    first, again = payment.start(idempotency_key="a"), payment.start(idempotency_key="a")

    assert (again.json(), again["Idempotent-Replayed"]) == (first.json(), "true")
    assert "Idempotent-Replayed" not in first
    assert len(payment.attempts) == 1


def test_start_of_which_the_outcome_is_unknown_goes_on_under_its_key(till, stripe):
    payment = till("stripe")
    stripe.fail_next("reset", after=True)

    lost = payment.start(idempotency_key="a")
    again = payment.start(idempotency_key="a")

    assert (problem(lost), lost.json()["phase"]) == ((502, "payment_gateway_failed"), "processing")
    assert (again.status_code, again["Idempotent-Replayed"]) == (200, "true")
    assert again.json()["payment_attempt"]["redirect_url"] == stripe.session["url"]
    assert len(payment.attempts) == len(stripe.sessions) == 1


def test_start_that_was_paid_meanwhile_shows_that(till, stripe):
    payment = till("stripe")
    payment.start(idempotency_key="a")
    stripe.pay()
    payment.confirm()

    again = payment.start(idempotency_key="a")

    assert again["Idempotent-Replayed"] == "true"
    assert again.json()["payment_attempt"]["status"] == "succeeded"
    assert again.json()["checkout"]["ready_to_complete"] is True


def test_start_whose_checkout_was_completed_meanwhile_shows_that(till, stripe):
    payment = till("stripe")
    payment.start(idempotency_key="a")
    stripe.pay()
    payment.confirm()
    payment.complete()

    again = payment.start(idempotency_key="a")

    assert (again.status_code, again["Idempotent-Replayed"]) == (200, "true")
    assert again.json()["checkout"]["order_token"] == payment.shown["order_token"] is not None
    assert len(stripe.sessions) == 1


def test_start_that_failed_meanwhile_says_so(till, stripe):
    payment = till("stripe")
    payment.start(idempotency_key="a")
    payment.confirm({"cancel": True})

    again = payment.start(idempotency_key="a")

    assert problem(again) == (409, "invalid_phase")
    assert (again.json()["phase"], again.json()["allowed"]) == ("failed", ["payment"])
    assert [attempt.status for attempt in payment.attempts] == ["failed"]


def test_start_of_a_checkout_that_ended_meanwhile_is_refused(till):
    payment = till("cod")
    payment.start(idempotency_key="a")
    payment.let_expire()

    assert problem(payment.start(idempotency_key="a")) == (409, "checkout_expired")


@pytest.mark.parametrize("urls", [URLS, URLS | {"return_url": "https://shop.example/second"}])
def test_key_starts_another_payment_after_another_method_was_chosen(till, stripe, urls):
    payment = till("stripe")
    payment.start(idempotency_key="a")
    payment.confirm({"cancel": True})
    payment.choose("cod")

    again = payment.start(urls, idempotency_key="a")

    assert again.status_code == 200
    assert "Idempotent-Replayed" not in again
    assert again.json()["checkout"]["phase"] == "processing"
    shown = again.json()["payment_attempt"]
    assert (shown["payment_method"], shown["redirect_url"]) == ("cod", None)
    first, second = payment.attempts
    assert (first.status, second.status) == ("failed", "pending")
    assert (second.return_url, second.amount_cents) == (urls["return_url"], int(shown["amount_cents"]))


@pytest.mark.parametrize("name", ["return_url", "cancel_url"])
def test_key_of_a_payment_that_returns_elsewhere_is_refused(till, stripe, name):
    payment = till("stripe")
    payment.start(idempotency_key="a")

    answer = payment.start(URLS | {name: "https://shop.example/other"}, idempotency_key="a")

    assert problem(answer) == (422, "idempotency_key_reused")
    assert [getattr(attempt, name) for attempt in payment.attempts] == [URLS[name]]
    assert stripe.calls == ["POST /v1/checkout/sessions"]


@pytest.mark.parametrize("headers", [{}, {"idempotency_key": "b"}])
def test_another_start_is_told_to_confirm(till, stripe, headers):
    payment = till("stripe")
    started = payment.start(idempotency_key="a").json()

    again = payment.start(**headers)

    assert problem(again) == (409, "invalid_phase")
    assert "Send confirm" in again.json()["detail"]
    assert again.json()["allowed"] == ["payment"]
    confirmed = payment.confirm().json()["payment_attempt"]
    assert confirmed["redirect_url"] == started["payment_attempt"]["redirect_url"]
    assert len(payment.attempts) == 1


def test_shopper_of_another_checkout_has_keys_of_its_own(till, stripe):
    first, second = till("stripe"), till("stripe")
    first.start(idempotency_key="a")

    answer = second.start(idempotency_key="a")

    assert answer.json()["checkout"]["token"] == second.token
    assert len(stripe.sessions) == 2


def test_key_that_is_none_is_refused(till, stripe):
    assert problem(till("stripe").start(idempotency_key=" ")) == (400, "idempotency_key_invalid")
