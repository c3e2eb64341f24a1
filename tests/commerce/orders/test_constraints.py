"""Constraints of the database, independent of the application."""

import pytest
from django.utils import timezone

from commerce.orders.models import Order, Totals
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
    ],
)
def test_order_is_in_one_state(shop, fields, constraint):
    with shop.scope():
        make_row(Order)

        assert refused_constraint(lambda: Order.objects.update(**fields)) == constraint


AMOUNTS = {
    "subtotal_with_tax_cents": 1190,
    "subtotal_without_tax_cents": 1000,
    "discount_cents": 100,
    "shipping_cents": 500,
    "cod_fee_cents": 30,
}


@pytest.mark.parametrize(
    ("prices_include_tax", "total"), [(True, 1190 - 100 + 530), (False, 1000 + 190 - 100 + 530 + 7)]
)
@pytest.mark.parametrize("off_by", [-1, 1])
def test_total_is_the_sum_of_the_amounts(shop, prices_include_tax, total, off_by):
    # The two subtotals differ by less than the tax, as they do with discounts and fees.
    amounts = AMOUNTS | {"prices_include_tax": prices_include_tax, "tax_cents": 197, "gift_card_cents": 200}
    wrong = {"total_cents": total + off_by, "amount_due_cents": total + off_by - 200}
    with shop.scope():
        make_row(Order, **amounts, total_cents=total, amount_due_cents=total - 200)

        assert refused_constraint(lambda: Order.objects.update(**wrong)) == "orders_total"


@pytest.mark.parametrize(
    "amount",
    [
        "subtotal_with_tax_cents",
        "subtotal_without_tax_cents",
        "discount_cents",
        "shipping_cents",
        "shipping_discount_cents",
        "shipping_tax_cents",
        "cod_fee_cents",
        "cod_fee_tax_cents",
        "tax_cents",
        "gift_card_cents",
        "amount_due_cents",
    ],
)
def test_no_amount_is_negative(shop, amount):
    # All sums are right, so that nothing but the sign is wrong.
    amounts = dict.fromkeys(
        [field.name for field in Totals._meta.get_fields() if field.name.endswith("_cents")], 0
    )
    amounts[amount] = -1
    goods = amounts["subtotal_without_tax_cents"] + amounts["tax_cents"]
    total = goods - amounts["discount_cents"] + amounts["shipping_cents"] + amounts["cod_fee_cents"]
    if amount == "amount_due_cents":
        amounts["gift_card_cents"] = 1
    amounts["total_cents"] = total
    amounts["amount_due_cents"] = total - amounts["gift_card_cents"]
    with shop.scope():
        assert (
            refused_constraint(lambda: make_row(Order, prices_include_tax=False, **amounts))
            == "orders_not_negative"
        )


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
