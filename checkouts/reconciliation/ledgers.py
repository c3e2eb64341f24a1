"""Compare counts and balances with ledgers, holds with checkouts that may hold, orders and carts with checkouts."""

from .checks import Check, compare_sums

_HELD = """
    SELECT h.id, h.checkout_id
      FROM {table} h
     WHERE h.account_id = %(account)s AND {which}
       AND NOT EXISTS (SELECT FROM checkouts k
                        WHERE k.account_id = h.account_id AND k.id = h.checkout_id AND {holder})
     ORDER BY h.id
"""
_USES = """
    SELECT d.id, d.usage_count, COALESCE(r.uses, 0) + COALESCE(h.uses, 0)
      FROM discounts d
      LEFT JOIN (SELECT u.discount_id, sum(CASE u.kind WHEN 'redeem' THEN 1 ELSE -1 END) AS uses
                   FROM discount_redemptions u
                  WHERE u.account_id = %(account)s GROUP BY u.discount_id) r ON r.discount_id = d.id
      LEFT JOIN (SELECT u.discount_id, count(*) AS uses
                   FROM discount_holds u
                  WHERE u.account_id = %(account)s GROUP BY u.discount_id) h ON h.discount_id = d.id
     WHERE d.account_id = %(account)s AND d.usage_count <> COALESCE(r.uses, 0) + COALESCE(h.uses, 0)
     ORDER BY d.id
"""
# A discount of this type only represents its voucher, so all of these are copies.
_GIFT_CARDS = """
    SELECT d.id, d.voucher_id
      FROM discounts d
      LEFT JOIN vouchers v ON v.account_id = d.account_id AND v.id = d.voucher_id
     WHERE d.account_id = %(account)s AND d.type = 'gift_card'
       AND (v.code, v.initial_balance_cents, v.currency)
           IS DISTINCT FROM (d.code, d.value_amount, d.currency)
     ORDER BY d.id
"""
# Cancelling frees the units of an order, and sending takes them out of stock.
_COMMITTED = """
    SELECT r.id, r.checkout_id
      FROM inventory_reservations r
     WHERE r.account_id = %(account)s AND r.status = 'committed'
       AND NOT EXISTS (SELECT FROM orders o
                        WHERE o.account_id = r.account_id AND o.checkout_id = r.checkout_id
                          AND o.status <> 'cancelled' AND o.fulfillment_status <> 'fulfilled')
     ORDER BY r.id
"""
_ORDERS_OF_COMPLETED = """
    SELECT k.id, k.order_id, string_agg(o.id::text, ', ')
      FROM checkouts k
      LEFT JOIN orders o ON o.account_id = k.account_id AND o.checkout_id = k.id
     WHERE k.account_id = %(account)s AND k.phase = 'completed'
     GROUP BY k.id, k.order_id
    HAVING count(*) <> 1 OR min(o.id) IS DISTINCT FROM k.order_id
     ORDER BY k.id
"""
_CHECKOUTS_OF_ORDERS = """
    SELECT o.id, o.checkout_id, COALESCE(k.phase, 'unknown')
      FROM orders o
      LEFT JOIN checkouts k ON k.account_id = o.account_id AND k.id = o.checkout_id
     WHERE o.account_id = %(account)s AND k.phase IS DISTINCT FROM 'completed'
     ORDER BY o.id
"""
# A merged cart stays merged: its checkout may be completed nevertheless, if it was paid before.
_CARTS_OF_COMPLETED = """
    SELECT k.id, k.cart_id, c.status
      FROM checkouts k
      JOIN carts c ON c.account_id = k.account_id AND c.id = k.cart_id
     WHERE k.account_id = %(account)s AND k.phase = 'completed' AND c.status NOT IN ('converted', 'merged')
     ORDER BY k.id
"""
_CHECKOUTS_OF_CONVERTED = """
    SELECT c.id
      FROM carts c
     WHERE c.account_id = %(account)s AND c.status = 'converted'
       AND NOT EXISTS (SELECT FROM checkouts k
                        WHERE k.account_id = c.account_id AND k.cart_id = c.id AND k.phase = 'completed')
     ORDER BY c.id
"""
_CHECKOUTS_OF_MERGED = """
    SELECT c.id, k.id, k.phase
      FROM carts c
      JOIN checkouts k ON k.account_id = c.account_id AND k.cart_id = c.id
     WHERE c.account_id = %(account)s AND c.status = 'merged'
       AND k.phase = ANY(%(open_phases)s::text[]) AND NOT k.ready_to_complete
     ORDER BY c.id
"""
_LINES_OF_MERGED = """
    SELECT c.id, count(*)
      FROM carts c
      JOIN cart_line_items l ON l.account_id = c.account_id AND l.cart_id = c.id
     WHERE c.account_id = %(account)s AND c.status = 'merged'
     GROUP BY c.id
     ORDER BY c.id
"""


def _check_holder_is_paying(text: str, table: str) -> Check:
    return Check(text, _HELD.format(table=table, which="true", holder="k.phase = 'processing'"))


def _check_units(status: str) -> Check:
    return compare_sums(
        f"inventory level {{}} has {{}} units {status}, but its reservations sum up to {{}}",
        table="inventory_levels",
        column=status,
        parts="inventory_reservations",
        reference="level_id",
        amount="quantity",
        which=f"p.status = '{status}'",
    )


CHECKS = (
    compare_sums(
        "voucher {} has a balance of {}, but its ledger sums up to {}",
        table="vouchers",
        column="balance_cents",
        parts="voucher_redemptions",
        reference="voucher_id",
        amount="amount_cents",
    ),
    compare_sums(
        "voucher {} has {} held, but its holds sum up to {}",
        table="vouchers",
        column="held_cents",
        parts="voucher_holds",
        reference="voucher_id",
        amount="amount_cents",
    ),
    Check("discount {} counts {} uses, but its redemptions and holds come to {}", _USES),
    Check("discount {} is a gift card, but voucher {} has another code, balance or currency", _GIFT_CARDS),
    _check_holder_is_paying(
        "voucher hold {} belongs to checkout {}, which is not being paid", "voucher_holds"
    ),
    _check_holder_is_paying(
        "discount hold {} belongs to checkout {}, which is not being paid", "discount_holds"
    ),
    Check(
        "reservation {} belongs to checkout {}, which is not open",
        _HELD.format(
            table="inventory_reservations",
            which="h.status = 'reserved'",
            holder="k.phase = ANY(%(open_phases)s::text[])",
        ),
    ),
    Check("reservation {} is committed, but checkout {} has no order to send", _COMMITTED),
    _check_units("reserved"),
    _check_units("committed"),
    Check("completed checkout {} names order {}, but its orders are {}", _ORDERS_OF_COMPLETED),
    Check("order {} belongs to checkout {}, which is not completed but {}", _CHECKOUTS_OF_ORDERS),
    Check("completed checkout {} belongs to cart {}, which is still {}", _CARTS_OF_COMPLETED),
    Check("cart {} is converted, but none of its checkouts is completed", _CHECKOUTS_OF_CONVERTED),
    Check("cart {} is merged into another, but still has {} lines", _LINES_OF_MERGED),
    Check("cart {} is merged into another, but its checkout {} is still {}", _CHECKOUTS_OF_MERGED),
)
