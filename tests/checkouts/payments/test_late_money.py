"""Money that arrives late becomes an order or is refunded."""

from datetime import timedelta

import pytest
from django.utils import timezone

from checkouts.models import Checkout
from checkouts.operations import sweep_account
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.payments.gateway import GatewayRefused, GatewayUnreachable
from commerce.payments.stripe.gateway import StripeCheckout
from tests.checkouts.payments.test_stripe_webhook import event_of, send
from tests.problems import problem
from tests.storefront import EMAIL


@pytest.fixture
def started(till, stripe):
    payment = till("stripe", stock=1)
    payment.start()
    return payment


def sweep():
    return sweep_overdue_checkouts(now=timezone.now())


def run_again(shop):
    with shop.scope():
        OutboxDispatch.objects.filter(status="pending").update(due_at=timezone.now())
    run_due()


def abandon_by_a_new_checkout(payment):
    body = {"cart_token": payment.shown["cart_token"], "email": EMAIL}
    assert payment.shop.storefront.post("checkouts.json", body).status_code == 201


def test_customer_who_paid_in_time_and_comes_back_late_is_served(started, stripe):
    stripe.pay()
    started.let_expire()

    confirmed = started.confirm().json()["checkout"]
    completed = started.complete().json()["checkout"]

    assert (confirmed["phase"], confirmed["ready_to_complete"]) == ("processing", True)
    assert completed["phase"] == "completed"


def test_overdue_checkout_that_was_paid_becomes_an_order(started, stripe):
    stripe.pay()
    started.let_expire()

    sweep()
    run_due()
    sweep()

    assert started.shown["phase"] == "completed"
    with started.shop.scope():
        assert Order.objects.get().payment_status == "paid"


def test_overdue_checkout_that_was_not_paid_is_closed_and_abandoned(started, stripe):
    started.let_expire()

    sweep()
    meanwhile = (started.shown["phase"], reserved(started))
    run_due()
    sweep()

    assert stripe.session["status"] == "expired"
    assert started.shown["phase"] == "abandoned"
    assert (meanwhile, reserved(started)) == (("processing", 1), 0)


def test_overdue_checkout_waits_for_a_gateway_that_gives_no_answer(started, stripe):
    started.let_expire()
    stripe.fail_next(500)

    swept = [sweep(), sweep()]
    run_due()
    swept.append(sweep())
    stripe.pay()
    run_again(started.shop)
    sweep()

    assert swept == [1, 0, 0]
    assert started.shown["phase"] == "completed"


def test_sweeper_with_an_outdated_list_leaves_the_gateway_time_to_answer(started, stripe):
    stripe.pay()
    started.let_expire()
    with started.shop.scope():
        listed = list(Checkout.objects.values_list("pk", flat=True))
    sweep()

    with started.shop.scope():
        paid = sweep_account(checkout_ids=listed, now=timezone.now())
    meanwhile = (paid, started.shown["phase"], reserved(started))
    run_due()
    sweep()

    assert meanwhile == ([], "processing", 1)
    assert started.shown["phase"] == "completed"


def test_overdue_checkout_is_abandoned_after_a_day_without_an_answer(started, stripe):
    started.let_expire()
    sweep()
    with started.shop.scope():
        Checkout.objects.update(sweep_after=timezone.now() - timedelta(hours=1))

    sweep()

    assert started.shown["phase"] == "abandoned"
    assert reserved(started) == 0


def test_money_at_a_page_whose_gateway_has_lost_its_key_is_found_with_the_next_one(started, stripe):
    def set_key(key):
        started.shop.admin.put("settings.json", {"settings": {"commerce.payments.stripe_secret_key": key}})

    set_key(None)
    started.let_expire()
    sweep()
    run_due()
    without = (started.shown["phase"], reserved(started), sweep())
    stripe.pay()
    set_key("sk_test_other")
    run_again(started.shop)
    sweep()

    assert without == ("processing", 1, 0)
    assert started.shown["phase"] == "completed"


def test_checkout_that_a_new_one_replaces_can_not_be_paid_any_more(started, stripe):
    abandon_by_a_new_checkout(started)

    run_due()

    assert stripe.session["status"] == "expired"
    assert [attempt.failure_code for attempt in started.attempts] == ["payment_abandoned"]
    assert stripe.refunds == []


def test_money_for_a_checkout_that_was_replaced_goes_back_once(started, stripe):
    stripe.pay()
    abandon_by_a_new_checkout(started)

    for number in range(3):
        send(started.shop, event_of(stripe) | {"id": f"evt_{number}"})
        run_due()

    (attempt,) = started.attempts
    assert stripe.refunds == [{"id": "re_1", "object": "refund", "payment_intent": "pi_1"}]
    assert (attempt.status, attempt.failure_code) == ("failed", "paid_too_late")
    assert attempt.paid_late_at is not None
    assert (attempt.refunded_at is not None, attempt.refund_reference) == (True, "re_1")
    assert started.shown["phase"] == "abandoned"


def test_money_for_a_failed_attempt_goes_back_though_another_succeeds(started, stripe):
    stripe.session["status"] = "expired"
    started.confirm()
    started.choose("bank_transfer")
    started.start()
    stripe.pay()

    send(started.shop, event_of(stripe))
    run_due()
    confirmed = started.confirm().json()["checkout"]

    assert [refund["payment_intent"] for refund in stripe.refunds] == ["pi_1"]
    assert confirmed["ready_to_complete"] is True
    assert [attempt.status for attempt in started.attempts] == ["failed", "succeeded"]


def test_page_that_another_call_has_opened_survives_a_start_that_was_not_sent(till, stripe, monkeypatch):
    payment = till("stripe")
    start = StripeCheckout.start

    def confirm_before(gateway, asked):
        monkeypatch.setattr(StripeCheckout, "start", start)
        payment.confirm()
        raise GatewayUnreachable("Nothing was sent.")

    monkeypatch.setattr(StripeCheckout, "start", confirm_before)

    answer = payment.start()

    assert (problem(answer), answer.json()["phase"]) == ((502, "payment_gateway_failed"), "processing")
    assert [attempt.status for attempt in payment.attempts] == ["requires_action"]
    assert stripe.session["status"] == "open"


def test_page_that_opens_after_its_attempt_has_failed_is_closed(till, stripe, monkeypatch):
    payment = till("stripe")
    start = StripeCheckout.start

    def confirm_after(gateway, asked):
        monkeypatch.setattr(StripeCheckout, "start", fail_before)
        payment.confirm()
        return start(gateway, asked)

    def fail_before(gateway, asked):
        raise GatewayRefused("No.")

    monkeypatch.setattr(StripeCheckout, "start", confirm_after)

    payment.start()
    monkeypatch.setattr(StripeCheckout, "start", start)
    run_due()

    assert payment.shown["phase"] == "failed"
    assert stripe.session["status"] == "expired"


def test_refund_whose_answer_was_lost_is_made_once(started, stripe):
    stripe.pay()
    abandon_by_a_new_checkout(started)
    send(started.shop, event_of(stripe))
    with started.shop.scope():
        OutboxDispatch.objects.filter(target__task_name="cancel_payment").update(status="cancelled")
    run_due_until_refund(started, stripe)

    run_again(started.shop)

    assert len(stripe.refunds) == 1
    assert started.attempts[0].refund_reference == "re_1"


def run_due_until_refund(payment, stripe):
    """Lose the refund's own answer: the session is read by the settling and again by the refund before it."""
    for how in (None, None, "timeout"):
        stripe.fail_next(how, after=True)
    run_due()
    assert len(stripe.refunds) == 1
    assert payment.attempts[0].refunded_at is None


def reserved(payment):
    with payment.shop.scope():
        return InventoryLevel.objects.get().reserved


def test_money_of_a_cancelled_order_goes_back_once(started, stripe):
    stripe.pay()
    started.confirm()
    order_id = started.complete().json()["checkout"]["order_id"]
    path = f"orders/{order_id}"
    started.shop.admin.post(f"{path}/cancel.json", {})
    cancelled = started.shop.admin.get(f"{path}.json").json()["order"]

    run_due()
    started.shop.admin.post(f"{path}/cancel.json", {})
    run_due()

    shown = started.shop.admin.get(f"{path}.json").json()["order"]
    assert (cancelled["status"], cancelled["payment_status"]) == ("cancelled", "paid")
    assert (shown["status"], shown["payment_status"]) == ("cancelled", "refunded")
    assert len(stripe.refunds) == 1
    assert started.attempts[0].refunded_at is not None


@pytest.mark.parametrize("is_paid", [False, True])
def test_payment_left_open_by_damage_gives_way_to_another(started, stripe, is_paid):
    if is_paid:
        stripe.pay()
    with started.shop.scope():
        Checkout.objects.update(phase="failed")
    old_page = stripe.session

    started.choose("stripe")
    again = started.start().json()
    run_due()

    first, second = started.attempts
    assert (first.status, first.failure_code) == ("failed", "replaced")
    assert (first.paid_late_at is not None, first.refunded_at is not None) == (is_paid, is_paid)
    assert old_page["status"] == ("complete" if is_paid else "expired")
    assert again["payment_attempt"]["id"] == str(second.pk)
    assert (second.status, again["checkout"]["phase"]) == ("requires_action", "processing")
    stripe.pay_all()
    assert started.confirm().json()["checkout"]["ready_to_complete"] is True
