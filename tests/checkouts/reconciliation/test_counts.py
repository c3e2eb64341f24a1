"""`manage.py reconcile`: finds customers' figures and emails that don't agree with the orders."""

from datetime import timedelta

import pytest
from django.utils import timezone

from checkouts.models import Checkout
from commerce.customers.models import Customer
from commerce.orders.models import Order, OrderCounter
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests import factories
from tests.checkouts.reconciliation.command import damage, difference, reconcile
from tests.storefront import checkout_in


@pytest.fixture
def sold(shop):
    """One of a customer's two orders of 10.00 each; the other one is cancelled."""
    rate = factories.make_rate(shop, price_cents=0)
    variant = factories.make_variant(shop, price_cents=1000)
    kept, cancelled = (checkout_in("completed", shop, (variant, 1), rate=rate) for _ in range(2))
    assert shop.admin.post(f"orders/{cancelled['order_id']}/cancel.json", {}).status_code == 200
    return kept


def test_number_of_a_customers_orders_that_is_not_the_orders_is_found(shop, sold):
    assert reconcile(shop) == []
    with shop.scope():
        Customer.objects.update(orders_count=7)

    assert difference(shop) == (
        f"customer {sold['customer_id']} counts 7 orders, but has 1 that are not cancelled"
    )


def test_order_without_its_emails_is_found(shop, sold):
    assert shop.admin.post(f"orders/{sold['order_id']}/fulfill.json", {}).status_code == 200
    assert reconcile(shop) == []
    with shop.scope():
        OutboxDispatch.objects.all().delete()
        cancelled = Order.objects.exclude(pk=sold["order_id"]).get()

    missing = [(int(sold["order_id"]), "order.shipped"), (cancelled.pk, "order.cancelled")]
    missing += [(order_id, "order.confirmation") for order_id in (int(sold["order_id"]), cancelled.pk)]
    assert reconcile(shop) == [
        f"order {order_id} has no email {template}, neither sent nor waiting"
        for order_id, template in sorted(missing)
    ]


def test_confirmation_that_was_pruned_long_after_the_order_agrees(shop, sold, settings):
    with shop.scope():
        OutboxDispatch.objects.all().delete()
        long_ago = timezone.now() - timedelta(days=settings.OUTBOX_KEEP_DAYS, hours=1)
        Order.objects.update(placed_at=long_ago)
        Checkout.objects.update(completed_at=long_ago)
        Order.objects.filter(status="cancelled").update(cancelled_at=long_ago)

    assert reconcile(shop) == []


def test_email_that_was_sent_without_a_delivery_is_found(shop, sold):
    run_due()
    with shop.scope():
        dispatch = OutboxDispatch.objects.get(idempotency_key__startswith="order.cancelled/")
        OutboxDispatch.objects.exclude(pk=dispatch.pk).delete()
        OutboxDispatch.objects.update(status="succeeded", finished_at=timezone.now())

    assert (
        f"dispatch {dispatch.pk} has sent the email {dispatch.idempotency_key}, but there is no delivery of it"
        in (reconcile(shop))
    )


def test_email_about_an_order_that_does_not_exist_is_found(shop):
    delivery = factories.make_delivery(
        shop, key_space="product", template_key="order.shipped", reference_type="order", reference_id=7
    )

    assert difference(shop) == (
        f"email delivery {delivery.pk} of order.shipped refers to order 7, which does not exist"
    )


def test_order_number_that_would_be_given_out_again_is_found(shop, sold):
    with shop.scope():
        OrderCounter.objects.update(last_number=1001)
        last = Order.objects.latest("number")

    assert difference(shop) == (f"the highest order number is {last.number}, but the counter is at 1001")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("event", ["checkout.completed", "order.fulfilled"])
def test_order_that_the_feed_does_not_tell_of_is_found(shop, sold, event):
    assert shop.admin.post(f"orders/{sold['order_id']}/fulfill.json", {}).status_code == 200
    assert reconcile(shop) == []

    damage(
        shop,
        "DELETE FROM events WHERE account_id = %(shop)s AND type = %(event)s AND data->>'order_id' = %(order)s",
        event=event,
        order=sold["order_id"],
    )

    assert difference(shop) == f"order {sold['order_id']} has no event {event}"
