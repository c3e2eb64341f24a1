"""Staff mark an order as refunded that its gateway is to refund: the customer gets the money once."""

import pytest
from django.utils import timezone

from checkouts.reconciliation import find_differences
from commerce.orders.errors import RefundUnderWay
from commerce.orders.models import Order
from commerce.orders.operations import mark_order_refunded
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import cancel_dispatch, retry_dispatch
from commerce.outbox.worker import run_due
from commerce.payments.gateway import OutcomeUnknown
from commerce.payments.stripe.gateway import StripeCheckout
from tests.checkouts.payments.test_late_money import run_again
from tests.checkouts.payments.test_stripe_webhook import event_of, send

# Other statuses than these end a dispatch.
RUNNABLE = ["pending", "processing"]


@pytest.fixture
def cancelled(till, stripe):
    """The payment of a cancelled order; its refund is enqueued."""
    payment = till("stripe", stock=1)
    payment.start()
    stripe.pay()
    payment.confirm()
    order_id = payment.complete().json()["checkout"]["order_id"]
    assert payment.shop.admin.post(f"orders/{order_id}/cancel.json", {}).status_code == 200
    return payment


def mark(shop):
    with shop.scope():
        return mark_order_refunded(order_id=Order.objects.get().pk, now=timezone.now())


def refund_of(shop):
    with shop.scope():
        return OutboxDispatch.objects.get(target__task_name="refund_payment")


def payment_status(shop):
    with shop.scope():
        return Order.objects.get().payment_status


def end_refund(shop, status):
    with shop.scope():
        OutboxDispatch.objects.filter(target__task_name="refund_payment").update(
            status=status, finished_at=None if status in RUNNABLE else timezone.now()
        )


@pytest.mark.parametrize("status", RUNNABLE)
def test_order_is_not_marked_while_its_gateway_may_refund_it(cancelled, stripe, status):
    end_refund(cancelled.shop, status)

    with pytest.raises(RefundUnderWay) as refused:
        mark(cancelled.shop)

    assert refused.value.extras == {"dispatch_id": refund_of(cancelled.shop).pk}
    assert payment_status(cancelled.shop) == "paid"
    end_refund(cancelled.shop, "pending")
    run_due()
    assert (payment_status(cancelled.shop), len(stripe.refunds)) == ("refunded", 1)


@pytest.mark.parametrize("status", ["dead", "cancelled"])
def test_refund_that_has_ended_refunds_nothing_when_it_is_retried_after_the_mark(cancelled, stripe, status):
    end_refund(cancelled.shop, status)

    mark(cancelled.shop)
    dispatch_id = refund_of(cancelled.shop).pk
    with cancelled.shop.scope():
        retry_dispatch(dispatch_id=dispatch_id, now=timezone.now())
    run_due()

    assert payment_status(cancelled.shop) == "refunded"
    assert stripe.refunds == []
    assert refund_of(cancelled.shop).status == "skipped"
    with cancelled.shop.scope():
        assert list(find_differences()) == []


def test_refund_that_is_retried_is_cancelled_before_the_order_is_marked(cancelled, stripe, monkeypatch):
    def fail(gateway, payment):
        raise OutcomeUnknown("No answer.")

    with monkeypatch.context() as patch:
        patch.setattr(StripeCheckout, "refund", fail)
        run_due()
    with pytest.raises(RefundUnderWay):
        mark(cancelled.shop)

    dispatch_id = refund_of(cancelled.shop).pk
    with cancelled.shop.scope():
        cancel_dispatch(dispatch_id=dispatch_id, now=timezone.now())
    mark(cancelled.shop)
    run_again(cancelled.shop)

    assert payment_status(cancelled.shop) == "refunded"
    assert stripe.refunds == []


def test_order_that_its_gateway_has_refunded_can_be_marked_again(cancelled, stripe):
    run_due()

    assert mark(cancelled.shop).payment_status == "refunded"
    assert len(stripe.refunds) == 1


def test_late_money_goes_back_though_an_order_of_the_checkout_is_refunded(till, stripe):
    payment = till("stripe", stock=1)
    payment.start()
    stripe.session["status"] = "expired"
    payment.confirm()
    payment.choose("bank_transfer")
    payment.start()
    payment.confirm()
    order_id = payment.complete().json()["checkout"]["order_id"]
    stripe.pay()
    send(payment.shop, event_of(stripe))
    for step in ("mark_paid", "cancel"):
        payment.shop.admin.post(f"orders/{order_id}/{step}.json", {})

    run_due()
    run_due()

    assert payment_status(payment.shop) == "refunded"
    assert len(stripe.refunds) == 1
