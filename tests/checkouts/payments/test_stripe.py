"""Stripe: every answer that it may give, and no answer."""

import pytest

from checkouts.models import CheckoutLineItem
from commerce.configuration.models import AccountSetting
from commerce.inventory.models import InventoryLevel
from commerce.payments.stripe.connector import SECRET_KEY
from commerce.payments.stripe.gateway import StripeCheckout
from tests.checkouts.payments.conftest import URLS
from tests.problems import problem

# Two scopes each, of which a test's own transaction makes a savepoint with a setting that it clears: eight.
START_STATEMENTS = 15
CONFIRM_STATEMENTS = 13


def test_start_opens_a_session_for_what_is_due(till, stripe):
    payment = till("stripe", price_cents=1990)

    answer = payment.start()

    attempt = answer.json()["payment_attempt"]
    assert (answer.status_code, answer.json()["checkout"]["phase"]) == (200, "processing")
    assert (attempt["status"], attempt["amount_cents"]) == ("requires_action", "2480")
    assert attempt["redirect_url"] == "https://checkout.stripe.example/cs_test_1"
    assert attempt["provider_reference"] == "cs_test_1"
    assert (stripe.session["amount_total"], stripe.session["currency"]) == (2480, "eur")
    assert stripe.session["metadata"]["account_id"] == str(payment.shop.id)
    ((parameters, _),) = stripe.keys.values()
    assert (parameters["success_url"], parameters["cancel_url"]) == tuple(URLS.values())
    assert parameters["payment_method_types[0]"] == "card"


def test_session_that_is_still_open_changes_nothing(till, stripe):
    payment = till("stripe")
    started = payment.start().json()

    answer = payment.confirm()

    assert (answer.status_code, answer.json()["checkout"]["ready_to_complete"]) == (200, False)
    assert answer.json()["payment_attempt"] == started["payment_attempt"]


def test_paid_session_makes_the_checkout_ready(till, stripe):
    payment = till("stripe")
    payment.start()
    stripe.pay()

    first, second = payment.confirm().json(), payment.confirm().json()

    assert (first["checkout"]["phase"], first["checkout"]["ready_to_complete"]) == ("processing", True)
    assert first["payment_attempt"]["status"] == "succeeded"
    assert second == first
    # The second one needs no call.
    assert stripe.calls.count("GET /v1/checkout/sessions/cs_test_1") == 1


def test_expired_session_fails_and_another_method_may_be_chosen(till, stripe):
    payment = till("stripe")
    payment.start()
    stripe.session["status"] = "expired"

    failed = payment.confirm().json()["checkout"]
    chosen = payment.choose("bank_transfer").json()["checkout"]

    assert (failed["phase"], failed["failure_code"]) == ("failed", "payment_abandoned")
    assert (chosen["phase"], chosen["failure_code"]) == ("payment", None)


def test_cancelled_session_can_not_be_paid_any_more(till, stripe):
    payment = till("stripe")
    payment.start()

    answer = payment.confirm({"cancel": True})

    assert answer.json()["checkout"]["failure_code"] == "payment_abandoned"
    assert stripe.session["status"] == "expired"


def test_session_that_is_paid_while_it_is_cancelled_counts_as_paid(till, stripe, monkeypatch):
    payment = till("stripe")
    payment.start()
    expire = stripe._expire

    def pay_first(name):
        stripe.pay()
        return expire(name)

    monkeypatch.setattr(stripe, "_expire", pay_first)

    answer = payment.confirm({"cancel": True})

    assert answer.json()["checkout"]["ready_to_complete"] is True


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"amount_total": 1}, "amount_mismatch"), ({"currency": "usd"}, "amount_mismatch")],
)
def test_another_amount_than_what_was_due_is_no_success(till, stripe, changes, code):
    payment = till("stripe")
    payment.start()
    stripe.pay(**changes)

    answer = payment.confirm().json()["checkout"]

    assert (answer["phase"], answer["failure_code"]) == ("failed", code)
    (attempt,) = payment.attempts
    assert attempt.paid_late_at is not None


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "gateway_refused"),
        (402, "gateway_refused"),
        (401, "gateway_unreachable"),
        (403, "gateway_unreachable"),
        (429, "gateway_unreachable"),
    ],
)
def test_refused_start_fails_and_may_be_retried(till, stripe, status, code):
    payment = till("stripe")
    stripe.fail_next(status)

    refused = payment.start()
    payment.choose("stripe")
    retried = payment.start()

    assert problem(refused) == (502, "payment_gateway_failed")
    assert refused.json()["phase"] == "failed"
    assert retried.status_code == 200
    assert [(attempt.status, attempt.failure_code) for attempt in payment.attempts] == [
        ("failed", code),
        ("requires_action", None),
    ]


def test_gateway_that_can_not_be_reached_fails_and_may_be_retried(till, settings):
    payment = till("stripe")
    # Nothing listens on port 1.
    settings.STRIPE_API_BASE = "http://127.0.0.1:1"

    answer = payment.start()

    assert problem(answer) == (502, "payment_gateway_failed")
    assert (payment.shown["phase"], payment.shown["failure_code"]) == ("failed", "gateway_unreachable")


def test_stored_key_that_no_header_holds_fails_and_may_be_retried(till, stripe):
    payment = till("stripe")
    with payment.shop.scope():
        AccountSetting.objects.filter(name=SECRET_KEY).update(value="sk_ключ")

    answer = payment.start()

    assert problem(answer) == (502, "payment_gateway_failed")
    assert (payment.shown["phase"], payment.shown["failure_code"]) == ("failed", "gateway_unreachable")
    assert stripe.calls == []


LOST_ANSWERS = ["timeout", "reset", 500, 409, b"<html>", b"[]", b"{}", b'{"id": 7}', b'{"id": "cs_other"}']


@pytest.mark.parametrize("how", LOST_ANSWERS)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_lost_answer_leaves_the_start_open_and_confirm_finds_its_page(till, stripe, how, after):
    payment = till("stripe")
    stripe.fail_next(how, after=after)

    lost = payment.start()
    (attempt,) = payment.attempts
    repeated = payment.start()
    found = payment.confirm()

    assert problem(lost) == (502, "payment_gateway_failed")
    assert (lost.json()["phase"], attempt.status, attempt.provider_reference) == (
        "processing",
        "pending",
        None,
    )
    assert problem(repeated) == (409, "invalid_phase")
    assert found.json()["payment_attempt"]["redirect_url"] == stripe.session["url"]
    assert found.json()["payment_attempt"]["status"] == "requires_action"
    assert list(stripe.sessions) == ["cs_test_1"]


def test_session_paid_although_the_answer_to_its_start_was_lost_is_found(till, stripe):
    payment = till("stripe")
    stripe.fail_next("timeout", after=True)
    payment.start()
    stripe.pay()

    confirmed = payment.confirm().json()["checkout"]

    assert confirmed["ready_to_complete"] is True
    assert list(stripe.sessions) == ["cs_test_1"]


@pytest.mark.parametrize("how", LOST_ANSWERS)
def test_lost_answer_to_a_confirmation_changes_nothing(till, stripe, how):
    payment = till("stripe")
    payment.start()
    before = payment.shown
    stripe.pay()
    stripe.fail_next(how)

    lost = payment.confirm()
    shown = payment.shown
    found = payment.confirm().json()["checkout"]

    assert problem(lost) == (502, "payment_gateway_failed")
    assert shown == before
    assert found["ready_to_complete"] is True


def test_process_that_dies_before_the_call_charges_nobody_twice(till, stripe, monkeypatch):
    payment = till("stripe")
    with monkeypatch.context() as patch:
        patch.setattr(StripeCheckout, "start", lambda self, payment: 1 / 0)
        died = payment.start()
    calls_before = list(stripe.calls)

    found = payment.confirm().json()

    assert (died.status_code, calls_before) == (500, [])
    assert found["payment_attempt"]["redirect_url"] == stripe.session["url"]


def test_process_that_dies_after_the_call_charges_nobody_twice(till, stripe, monkeypatch):
    payment = till("stripe")
    with monkeypatch.context() as patch:
        patch.setattr("checkouts.operations.payment.settle_attempt", lambda **_: 1 / 0)
        died = payment.start()
    stripe.pay()

    found = payment.confirm().json()

    assert died.status_code == 500
    assert found["checkout"]["ready_to_complete"] is True
    assert list(stripe.sessions) == ["cs_test_1"]


def test_failure_releases_the_stock_that_the_start_has_taken(till, stripe, pay_shop):
    pay_shop.admin.put("settings.json", {"settings": {"commerce.checkout.reserve_at": "payment_start"}})
    payment = till("stripe", stock=1)
    payment.start()
    held = reserved(pay_shop)
    stripe.session["status"] = "expired"

    payment.confirm()
    released = reserved(pay_shop)
    payment.choose("bank_transfer")
    payment.start()

    assert (held, released, reserved(pay_shop)) == (1, 0, 1)


def test_failure_keeps_the_stock_that_was_held_from_the_beginning(till, stripe, pay_shop):
    payment = till("stripe", stock=1)
    payment.start()
    stripe.session["status"] = "expired"

    payment.confirm()

    assert reserved(pay_shop) == 1


def reserved(shop):
    with shop.scope():
        return InventoryLevel.objects.get().reserved


def test_secrets_are_never_shown(pay_shop):
    shown = pay_shop.admin.get("settings.json").json()["settings"]

    assert shown["commerce.payments.stripe_secret_key"] == "********"
    assert shown["commerce.payments.stripe_webhook_secret"] == "********"


@pytest.mark.parametrize("lines", [1, 20])
def test_payment_takes_a_fixed_number_of_statements(till, stripe, django_assert_num_queries, lines):
    payment = till("stripe")
    with payment.shop.scope():
        line = CheckoutLineItem.objects.get()
        for position in range(2, lines + 1):
            line.pk, line.position = None, position
            line.save(force_insert=True)

    with django_assert_num_queries(START_STATEMENTS):
        payment.start()
    stripe.pay()
    with django_assert_num_queries(CONFIRM_STATEMENTS):
        payment.confirm()
