"""`manage.py reconcile`: finds uses of gift cards and discounts that are missing from ledgers and holds."""

import pytest

from tests import factories
from tests.checkouts.reconciliation.command import damage, reconcile
from tests.checkouts.reconciliation.sale import CHECKOUT, OF_SHOP, ORDER

pytestmark = pytest.mark.django_db(transaction=True)


def test_lost_redemption_of_a_gift_card_is_found(sold):
    assert sold.damaged(
        f"DELETE FROM voucher_redemptions {ORDER}",
        "UPDATE vouchers SET balance_cents = 500, status = 'active' WHERE account_id = %(shop)s AND id = %(card)s",
    ) == [
        f"order {sold.order_id} says that gift card {sold.card.pk} paid 500, but the gift card's ledger says 0"
    ]


def test_smaller_redemption_of_a_gift_card_is_found(sold):
    assert sold.damaged(
        f"UPDATE voucher_redemptions SET amount_cents = -200, balance_after_cents = 300 {ORDER}",
        "UPDATE vouchers SET balance_cents = 300, status = 'active' WHERE account_id = %(shop)s AND id = %(card)s",
    ) == [
        f"order {sold.order_id} says that gift card {sold.card.pk} paid 500, but the gift card's ledger says 200"
    ]


def test_redemption_that_the_order_does_not_know_of_is_found(sold):
    line, *copies = sold.damaged(
        "UPDATE orders SET discount_codes = '[]', automatic_discounts = discount_codes - 1"
        " WHERE account_id = %(shop)s AND id = %(order)s"
    )
    assert line == (
        f"order {sold.order_id} says that gift card {sold.card.pk} paid 0, but the gift card's ledger says 500"
    )
    assert [copy.partition(" [")[0] for copy in copies] == [
        f"order {sold.order_id} has the {name}" for name in ("automatic discounts", "discount codes")
    ]


def test_balance_of_an_entry_that_is_not_the_sum_so_far_is_found(sold):
    (line,) = sold.damaged(f"UPDATE voucher_redemptions SET balance_after_cents = 7 {ORDER}")
    assert line.endswith(
        f" of gift card {sold.card.pk} says that 7 was left, but the ledger up to it comes to 0"
    )


def test_gift_card_that_is_depleted_with_a_balance_is_found(shop):
    card = factories.make_voucher(shop, 500)
    damage(shop, f"UPDATE vouchers SET status = 'depleted' {OF_SHOP}")

    assert reconcile(shop) == [f"voucher {card.pk} is depleted, with a balance of 500"]


def test_gift_card_that_is_active_with_nothing_left_is_found(sold):
    assert sold.damaged(
        "UPDATE vouchers SET status = 'active' WHERE account_id = %(shop)s AND id = %(card)s"
    ) == [f"voucher {sold.card.pk} is active, with a balance of 0"]


def test_lost_redemption_of_a_discount_is_found(sold):
    assert sold.damaged(
        f"DELETE FROM discount_redemptions {ORDER}",
        "UPDATE discounts SET usage_count = usage_count - 1 WHERE account_id = %(shop)s AND id = %(discount)s",
    ) == [
        f"order {sold.order_id} says that discount {sold.discount.pk} took off 200, but the redemptions say 0"
    ]


@pytest.mark.parametrize(
    ("table", "what"),
    [("voucher_redemptions", "gift card entry"), ("discount_redemptions", "discount redemption")],
)
def test_entry_of_an_order_that_names_another_checkout_is_found(sold, table, what):
    (line,) = sold.damaged(f"UPDATE {table} SET checkout_id = 7 {ORDER}")
    assert line.startswith(what)
    assert line.endswith(
        f" belongs to order {sold.order_id}, whose checkout is {sold.checkout_id}, but names checkout 7"
    )


@pytest.mark.parametrize("table", ["voucher_redemptions", "discount_redemptions"])
def test_what_a_cancelled_order_has_not_given_back_is_found(shop, sold, table):
    assert shop.admin.post(f"orders/{sold.order_id}/cancel.json", {}).status_code == 200
    assert reconcile(shop) == []
    undone = {
        "voucher_redemptions": "UPDATE vouchers SET balance_cents = 0, status = 'depleted' "
        "WHERE account_id = %(shop)s AND id = %(card)s",
        "discount_redemptions": "UPDATE discounts SET usage_count = usage_count + 1 "
        "WHERE account_id = %(shop)s AND id = %(discount)s",
    }
    expected = {
        "voucher_redemptions": f"gift card {sold.card.pk} paid 500 for it and got 0 back",
        "discount_redemptions": f"discount {sold.discount.pk} took off 200, of which 0 was reversed",
    }

    lines = sold.damaged(f"DELETE FROM {table} {ORDER} AND kind = 'reversal'", undone[table])

    assert lines == [f"order {sold.order_id} is cancelled: {expected[table]}"]


def test_what_an_order_that_stands_has_given_back_is_found(sold):
    assert sold.damaged(
        "INSERT INTO voucher_redemptions (account_id, voucher_id, order_id, kind, amount_cents, balance_after_cents,"
        " actor, created_at) VALUES (%(shop)s, %(card)s, %(order)s, 'reversal', 500, 500, 'somebody', now())",
        "UPDATE vouchers SET balance_cents = 500, status = 'active' WHERE account_id = %(shop)s AND id = %(card)s",
    ) == [f"order {sold.order_id} is open: gift card {sold.card.pk} paid 500 for it and got 500 back"]


def test_lost_hold_of_a_discount_is_found(paying):
    assert paying.damaged(
        f"DELETE FROM discount_holds {CHECKOUT}",
        "UPDATE discounts SET usage_count = usage_count - 1 WHERE account_id = %(shop)s AND id = %(discount)s",
    ) == [
        (
            f"checkout {paying.checkout_id} is being paid with discount {paying.discount.pk} for 200,"
            " but its hold of a use is for 0"
        )
    ]


def test_lost_hold_of_a_gift_card_is_found(paying):
    assert paying.damaged(
        f"DELETE FROM voucher_holds {CHECKOUT}",
        "UPDATE vouchers SET held_cents = 0 WHERE account_id = %(shop)s AND id = %(card)s",
    ) == [
        f"checkout {paying.checkout_id} is being paid with gift card {paying.card.pk} for 500, but holds 0 of it"
    ]
