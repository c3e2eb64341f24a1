"""The test card: its page, and the outcome in the shop."""

import pytest
from django.test import Client
from django.utils import timezone

from checkouts.models import Checkout
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.outbox.worker import run_due
from commerce.payments.models import FakeCardPayment
from tests.checkouts.payments.conftest import URLS
from tests.problems import problem


def page_of(answer):
    return answer.json()["payment_attempt"]["redirect_url"].removeprefix("http://127.0.0.1:8000")


def choose(answer, choice):
    return Client().post(f"{page_of(answer)}/{choice}")


def test_start_leads_to_a_page_that_shows_the_amount(till):
    payment = till("test_card", price_cents=1990)

    answer = payment.start()
    page = Client().get(page_of(answer))

    attempt = answer.json()["payment_attempt"]
    assert (attempt["payment_method"], attempt["status"]) == ("test_card", "requires_action")
    assert attempt["redirect_url"].startswith("http://127.0.0.1:8000/test-card/")
    assert page.status_code == 200
    assert "€24.80" in page.content.decode()
    assert page["Content-Security-Policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    ("choice", "back_to", "phase", "failure_code"),
    [
        ("succeed", URLS["return_url"], "processing", None),
        ("decline", URLS["return_url"], "failed", "card_declined"),
        ("abandon", URLS["cancel_url"], "failed", "payment_abandoned"),
        ("unknown", URLS["return_url"], "processing", None),
    ],
)
def test_choice_on_the_page_is_what_confirm_finds(till, choice, back_to, phase, failure_code):
    payment = till("test_card")
    started = payment.start()

    back = choose(started, choice)
    confirmed = payment.confirm({"status": "succeeded", "success": True})

    checkout, attempt = confirmed.json()["checkout"], confirmed.json()["payment_attempt"]
    assert (back.status_code, back["Location"]) == (303, back_to)
    assert confirmed.status_code == 200
    assert (checkout["phase"], checkout["failure_code"]) == (phase, failure_code)
    assert checkout["ready_to_complete"] is (choice == "succeed")
    assert attempt["failure_code"] == failure_code


def test_payload_of_the_client_proves_nothing(till):
    payment = till("test_card")
    payment.start()

    answer = payment.confirm({"status": "succeeded", "paid": True, "token": "any"})
    completed = payment.complete()

    assert answer.json()["checkout"]["ready_to_complete"] is False
    assert problem(completed) == (409, "payment_not_confirmed")


def test_paid_checkout_becomes_a_paid_order(till):
    payment = till("test_card")
    choose(payment.start(), "succeed")
    payment.confirm()

    completed = payment.complete().json()["checkout"]

    order = payment.shop.storefront.get(f"orders/{completed['order_token']}.json").json()["order"]
    events = payment.shop.admin.get("events.json").json()["events"]
    assert (order["payment_status"], order["payment_method"]) == ("paid", "test_card")
    assert [event["type"] for event in events] == ["checkout.created", "checkout.completed", "order.paid"]


def test_first_choice_counts(till):
    payment = till("test_card")
    started = payment.start()

    choose(started, "decline")
    second = choose(started, "succeed")

    assert second["Location"] == URLS["return_url"]
    assert payment.confirm().json()["checkout"]["failure_code"] == "card_declined"
    assert "This payment has ended: declined." in Client().get(page_of(started)).content.decode()


def test_another_try_after_a_failure_is_another_payment(till):
    payment = till("test_card")
    choose(payment.start(), "decline")
    payment.confirm()

    payment.choose("test_card")
    choose(payment.start(), "succeed")
    confirmed = payment.confirm().json()["checkout"]

    assert confirmed["ready_to_complete"] is True
    assert [attempt.status for attempt in payment.attempts] == ["failed", "succeeded"]


def test_open_payment_is_cancelled_at_the_clients_wish(till):
    payment = till("test_card")
    started = payment.start()

    answer = payment.confirm({"cancel": True})
    choose(started, "succeed")

    assert answer.json()["checkout"]["phase"] == "failed"
    assert answer.json()["checkout"]["failure_code"] == "payment_abandoned"
    with payment.shop.scope():
        assert FakeCardPayment.objects.get().status == "abandoned"


def test_paid_payment_is_not_cancelled(till):
    payment = till("test_card")
    choose(payment.start(), "succeed")

    answer = payment.confirm({"cancel": True})

    assert answer.json()["checkout"]["ready_to_complete"] is True


@pytest.mark.parametrize("missing", ["return_url", "cancel_url"])
def test_start_needs_addresses_to_come_back_to(till, missing):
    payment = till("test_card")

    answer = payment.shop.storefront.post(f"{payment.path}/start_payment.json", URLS | {missing: ""})

    assert problem(answer) == (422, "validation_failed")
    assert answer.json()["errors"][0]["field"] == missing
    assert (payment.shown["phase"], payment.attempts) == ("payment", [])


def test_start_without_anything_due_asks_nobody(till):
    payment = till("test_card", price_cents=0)
    with payment.shop.scope():
        Checkout.objects.update(shipping_cents=0, shipping_tax_cents=0, total_cents=0, amount_due_cents=0)

    started = payment.shop.storefront.post(f"{payment.path}/start_payment.json", {}).json()
    confirmed = payment.confirm().json()["checkout"]

    assert (started["payment_attempt"]["status"], started["payment_attempt"]["redirect_url"]) == (
        "pending",
        None,
    )
    assert confirmed["ready_to_complete"] is True
    with payment.shop.scope():
        assert FakeCardPayment.objects.count() == 0


def test_method_that_is_switched_off_is_refused(till):
    payment = till("test_card")
    payment.shop.admin.put("settings.json", {"settings": {"commerce.payments.test_card": False}})

    started = payment.start()
    chosen = payment.choose("test_card")

    assert problem(started) == (422, "payment_method_not_supported")
    assert problem(chosen) == (422, "payment_method_not_supported")
    assert chosen.json()["supported"] == ["bank_transfer", "cod", "stripe"]
    assert payment.attempts == []


def test_unknown_payment_has_no_page(db):
    assert Client().get("/test-card/nothing").status_code == 404
    assert Client().post("/test-card/nothing/succeed").status_code == 404
    assert Client().post("/test-card/nothing/anything").status_code == 404


def test_page_takes_no_choice_by_get(till):
    payment = till("test_card")
    started = payment.start()

    assert Client().get(f"{page_of(started)}/succeed").status_code == 405
    with payment.shop.scope():
        assert FakeCardPayment.objects.get().status == "open"


def test_overdue_payment_is_closed_before_its_checkout_is_abandoned(till):
    payment = till("test_card")
    payment.start()
    payment.let_expire()

    sweep_overdue_checkouts(now=timezone.now())
    run_due()
    sweep_overdue_checkouts(now=timezone.now())

    assert payment.shown["phase"] == "abandoned"
    assert [attempt.failure_code for attempt in payment.attempts] == ["payment_abandoned"]
    with payment.shop.scope():
        assert FakeCardPayment.objects.get().status == "abandoned"
