"""`manage.py reconcile`: finds orders and checkouts whose totals or currencies don't match their parts."""

import pytest

from checkouts.models import Checkout
from tests.checkouts.reconciliation.sale import CHECKOUT, ORDER, Sale

pytestmark = pytest.mark.django_db(transaction=True)


def test_order_line_that_is_not_the_checkouts_is_found(sold):
    assert sold.damaged(
        "UPDATE order_line_items SET line_total_with_tax_cents = 1, line_total_without_tax_cents = 1,"
        f" line_tax_cents = 0 {ORDER}"
    ) == [
        (
            f"order {sold.order_id}, line 1: 2 of variant {sold.variant.pk} for 1 (1 without tax, 200 off), but the"
            f" checkout's line has 2 of variant {sold.variant.pk} for 2000 (2000 without tax, 200 off)"
        )
    ]


def test_order_without_lines_is_found(sold):
    assert sold.damaged(f"DELETE FROM order_line_items {ORDER}") == [
        (
            f"order {sold.order_id}, line 1: 0 of variant none for 0 (0 without tax, 0 off), but the"
            f" checkout's line has 2 of variant {sold.variant.pk} for 2000 (2000 without tax, 200 off)"
        )
    ]


def test_order_that_does_not_cost_what_its_checkout_does_is_found(sold):
    assert sold.damaged(
        "UPDATE orders SET shipping_tax_cents = 9 WHERE account_id = %(shop)s AND id = %(order)s"
    ) == [f"order {sold.order_id} has shipping_tax_cents 9, but its checkout {sold.checkout_id} has 0"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            "subtotal_without_tax_cents = 9",
            ["has subtotal_without_tax_cents of 9, but its lines come to 2000"],
        ),
        (
            "shipping_discount_cents = 9",
            [
                "has discount_cents and shipping_discount_cents of 209, but its discounts come to 200",
                "has shipping_cents of 0, but its prices come to -9",
            ],
        ),
        (
            "gift_card_cents = 400, amount_due_cents = amount_due_cents + 100",
            ["has gift_card_cents of 400, but its gift cards come to 500"],
        ),
    ],
)
def test_checkout_that_does_not_cost_what_its_parts_do_is_found(shop, change, expected):
    sale = Sale(shop, "payment")

    lines = sale.damaged(f"UPDATE checkouts SET {change} WHERE account_id = %(shop)s AND id = %(checkout)s")

    assert lines == [f"checkout {sale.checkout_id} {line}" for line in expected]


def test_checkout_of_another_currency_than_its_cart_is_found(shop):
    sale = Sale(shop, "pending")
    with shop.scope():
        cart_id = Checkout.objects.get(pk=sale.checkout_id).cart_id

    assert sale.damaged(
        "UPDATE carts SET currency = 'CZK' WHERE account_id = %(shop)s"
        " AND id = (SELECT cart_id FROM checkouts WHERE account_id = %(shop)s AND id = %(checkout)s)"
    ) == [f"checkout {sale.checkout_id} is in EUR, but cart {cart_id} is in CZK"]


def test_order_of_another_currency_than_what_paid_it_is_found(sold):
    lines = sold.damaged("UPDATE vouchers SET currency = 'CZK' WHERE account_id = %(shop)s AND id = %(card)s")
    assert lines == [f"gift card {sold.card.pk} is in CZK, but order {sold.order_id} is in EUR"]


def test_discount_of_another_currency_than_what_it_lowers_is_found(shop):
    sale = Sale(shop, "processing")
    (line,) = sale.damaged(f"UPDATE discount_holds SET currency = 'CZK' {CHECKOUT}")
    assert line.startswith("discount hold ")
    assert line.endswith(f" is in CZK, but checkout {sale.checkout_id} is in EUR")
