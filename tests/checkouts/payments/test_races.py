"""Payments requested twice at once, with real threads."""

from collections import Counter

import pytest
from django.utils import timezone

from checkouts.sweeping import sweep_overdue_checkouts
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def outcomes(answers):
    return Counter((answer.status_code, answer.json().get("code")) for answer in answers)


def test_starts_at_once_make_one_attempt_and_one_session(till, stripe):
    payment = till("stripe")

    answers = run_threads(6, lambda _: payment.start())

    assert outcomes(answers) == {(200, None): 1, (409, "invalid_phase"): 5}
    assert len(payment.attempts) == len(stripe.sessions) == 1


def test_starts_at_once_under_one_key_make_one_attempt(till, stripe):
    payment = till("stripe")

    answers = run_threads(6, lambda _: payment.start(idempotency_key="a"))

    assert set(outcomes(answers)) <= {(200, None), (409, "request_in_progress")}
    assert len({answer.content for answer in answers if answer.status_code == 200}) == 1
    assert len(payment.attempts) == len(stripe.sessions) == 1


def test_confirmations_at_once_find_one_outcome(till, stripe):
    payment = till("stripe")
    payment.start()
    stripe.pay()

    answers = run_threads(6, lambda n: payment.confirm({"cancel": n % 2 == 0}))

    assert outcomes(answers) == {(200, None): 6}
    assert len({answer.content for answer in answers}) == 1
    assert [attempt.status for attempt in payment.attempts] == ["succeeded"]


def test_confirmations_after_a_lost_start_open_one_session(till, stripe):
    payment = till("stripe")
    stripe.fail_next("reset")
    payment.start()

    answers = run_threads(6, lambda _: payment.confirm())

    assert outcomes(answers) == {(200, None): 6}
    assert len(stripe.sessions) == 1


def test_confirmations_and_completions_at_once_make_one_order(till, stripe):
    payment = till("stripe")
    payment.start()
    stripe.pay()

    answers = run_threads(8, lambda n: payment.complete() if n % 2 else payment.confirm())
    payment.complete()

    assert {status for status, _ in outcomes(answers)} <= {200, 409}
    with payment.shop.scope():
        assert Order.objects.count() == 1
        assert OutboxDispatch.objects.filter(target__task_name="send_email").count() == 1


def test_sweepers_at_once_leave_the_gateway_time_to_answer(till, stripe):
    payment = till("stripe")
    payment.start()
    stripe.pay()
    payment.let_expire()

    run_threads(6, lambda _: sweep_overdue_checkouts(now=timezone.now()))
    swept = payment.shown["phase"]
    run_due()
    sweep_overdue_checkouts(now=timezone.now())

    assert swept == "processing"
    assert payment.shown["phase"] == "completed"
    with payment.shop.scope():
        assert OutboxDispatch.objects.filter(target__task_name="cancel_payment").count() == 1
