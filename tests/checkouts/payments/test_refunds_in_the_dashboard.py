"""Refunds that the merchant has made in Stripe's dashboard are recorded instead of being made again."""

import pytest

from checkouts.reconciliation import find_differences
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests.checkouts.payments.test_late_money import abandon_by_a_new_checkout


@pytest.fixture
def paid(till, stripe):
    payment = till("stripe", stock=1)
    payment.start()
    stripe.pay()
    return payment


@pytest.fixture
def ordered(paid):
    paid.confirm()
    paid.complete()
    return paid


def cancel_order(payment):
    order_id = payment.shown["order_id"]
    assert payment.shop.admin.post(f"orders/{order_id}/cancel.json", {}).status_code == 200


def read_payment_status(payment):
    return payment.shop.admin.get(f"orders/{payment.shown['order_id']}.json").json()["order"][
        "payment_status"
    ]


def refund_dispatch(payment):
    with payment.shop.scope():
        return OutboxDispatch.objects.get(target__task_name="refund_payment")


def differences(payment):
    with payment.shop.scope():
        return list(find_differences())


def test_order_refunded_in_the_dashboard_is_refunded_here(ordered, stripe):
    stripe.refund_by_hand("re_failed", status="failed")
    stripe.refund_by_hand("re_hand")

    cancel_order(ordered)
    run_due()

    assert read_payment_status(ordered) == "refunded"
    assert ordered.attempts[0].refund_reference == "re_hand"
    assert [refund["id"] for refund in stripe.refunds] == ["re_hand", "re_failed"]
    assert refund_dispatch(ordered).status == "succeeded"
    assert differences(ordered) == []


def test_newest_refund_that_did_not_fail_is_recorded(ordered, stripe):
    stripe.refund_by_hand("re_first")
    stripe.refund_by_hand("re_last", status="pending")
    stripe.refund_by_hand("re_failed", status="failed")

    cancel_order(ordered)
    run_due()

    assert ordered.attempts[0].refund_reference == "re_last"


def test_late_money_refunded_in_the_dashboard_is_settled(paid, stripe):
    abandon_by_a_new_checkout(paid)
    stripe.refund_by_hand("re_hand")

    run_due()
    run_due()

    (attempt,) = paid.attempts
    assert (attempt.failure_code, attempt.refund_reference) == ("paid_too_late", "re_hand")
    assert attempt.refunded_at is not None
    assert refund_dispatch(paid).status == "succeeded"
    assert differences(paid) == []


@pytest.mark.parametrize("answer", [b'{"object": "list", "data": []}', b'{"object": "list"}', b"[]"])
def test_refund_that_stripe_refuses_but_does_not_name_stays_owed(ordered, stripe, answer):
    stripe.refund_by_hand("re_hand")
    # The session and the refund are answered, the list isn't.
    for how in (None, None, answer):
        stripe.fail_next(how)

    cancel_order(ordered)
    run_due()

    assert read_payment_status(ordered) == "paid"
    assert ordered.attempts[0].refunded_at is None
    assert refund_dispatch(ordered).status == "pending"
    assert refund_dispatch(ordered).last_error.startswith("OutcomeUnknown")


def test_refund_that_stripe_refuses_for_another_reason_stays_owed(ordered, stripe):
    for how in (None, 400):
        stripe.fail_next(how)

    cancel_order(ordered)
    run_due()

    assert read_payment_status(ordered) == "paid"
    assert refund_dispatch(ordered).last_error.startswith("GatewayRefused")
    assert stripe.refunds == []
