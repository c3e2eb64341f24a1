"""Staff, retries and workers refund the same order at once, with real threads."""

import pytest
from django.utils import timezone

from commerce.orders.errors import RefundUnderWay
from commerce.orders.models import Order
from commerce.orders.operations import mark_order_refunded
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import retry_dispatch
from commerce.outbox.worker import run_due
from commerce.payments.models import FakeCardPayment
from tests.checkouts.payments.conftest import Till
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cancelled(shop):
    """A shop with a cancelled order by the test card, and the dispatch that is to refund it."""
    shop.admin.put("settings.json", {"settings": {"commerce.payments.test_card": True}})
    payment = Till(shop, "test_card")
    payment.start()
    with shop.scope():
        FakeCardPayment.objects.update(status="succeeded")
    payment.confirm()
    order_id = payment.complete().json()["checkout"]["order_id"]
    shop.admin.post(f"orders/{order_id}/cancel.json", {})
    with shop.scope():
        return shop, int(order_id), OutboxDispatch.objects.get(target__task_name="refund_payment").pk


def mark(shop, order_id):
    with shop.scope():
        return mark_order_refunded(order_id=order_id, now=timezone.now())


def refunds_by_gateway(shop):
    with shop.scope():
        assert Order.objects.get().payment_status == "refunded"
        return FakeCardPayment.objects.filter(status="refunded").count()


def test_order_is_refunded_by_hand_or_by_the_gateway_but_not_by_both(cancelled):
    shop, order_id, dispatch_id = cancelled
    with shop.scope():
        OutboxDispatch.objects.filter(pk=dispatch_id).update(status="dead", finished_at=timezone.now())

    def work(index):
        if index % 2:
            return mark(shop, order_id)
        with shop.scope():
            retry_dispatch(dispatch_id=dispatch_id, now=timezone.now())
        return run_due()

    _, marked = run_threads(2, work)
    run_due()

    is_by_hand = isinstance(marked, Order)
    # An order that the gateway had refunded before is marked without any effect.
    assert is_by_hand or isinstance(marked, RefundUnderWay)
    assert refunds_by_gateway(shop) == 1 - (is_by_hand and was_skipped(shop, dispatch_id))


def was_skipped(shop, dispatch_id):
    with shop.scope():
        return OutboxDispatch.objects.get(pk=dispatch_id).status == "skipped"


def test_marks_and_workers_at_once_do_not_deadlock(cancelled):
    shop, order_id, _ = cancelled

    results = run_threads(6, lambda index: mark(shop, order_id) if index % 2 else run_due())
    run_due()

    assert all(isinstance(result, Order | RefundUnderWay) for result in results[1::2])
    assert all(isinstance(result, bool) for result in results[::2])
    assert refunds_by_gateway(shop) == 1
