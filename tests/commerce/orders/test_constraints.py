"""Constraints of the database, independent of the application."""

import pytest
from django.utils import timezone

from commerce.orders.models import Order
from tests.commerce.refusals import refused_constraint
from tests.rows import make_row

NOW = timezone.now()


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"cancelled_at": NOW}, "orders_status"),
        ({"status": "cancelled"}, "orders_status"),
        ({"status": "closed"}, "orders_status"),
        (
            {
                "status": "closed",
                "payment_status": "paid",
                "paid_at": NOW,
            },
            "orders_status",
        ),
        (
            {
                "status": "cancelled",
                "cancelled_at": NOW,
                "fulfillment_status": "fulfilled",
                "fulfilled_at": NOW,
            },
            "orders_status",
        ),
        ({"payment_status": "paid"}, "orders_payment_status"),
        ({"paid_at": NOW}, "orders_payment_status"),
        ({"payment_status": "refunded", "refunded_at": NOW}, "orders_payment_status"),
        ({"payment_status": "refunded", "paid_at": NOW}, "orders_payment_status"),
        ({"fulfillment_status": "fulfilled"}, "orders_fulfillment_status"),
        ({"fulfilled_at": NOW}, "orders_fulfillment_status"),
        ({"total_cents": 1, "amount_due_cents": 1}, "orders_total"),
        ({"gift_card_cents": 1}, "orders_amount_due"),
        ({"shipping_tax_cents": -1}, "orders_not_negative"),
    ],
)
def test_order_is_in_one_state(shop, fields, constraint):
    with shop.scope():
        make_row(Order)

        assert refused_constraint(lambda: Order.objects.update(**fields)) == constraint


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"number": 1001}, "orders_number"),
        ({"checkout_id": 7}, "orders_checkout"),
        ({"token": "t"}, "orders_token"),
    ],
)
def test_order_is_named_once(shop, fields, constraint):
    with shop.scope():
        make_row(Order, **fields)

        assert refused_constraint(lambda: make_row(Order, **fields)) == constraint
