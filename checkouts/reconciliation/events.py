"""Check the feed of events, which tells other systems about orders and gift cards, and is never pruned."""

from .checks import Check

_TOLD = """
    WITH told AS (
        SELECT e.type, e.data->>'order_id' AS order_id, count(*) AS times, min(e.data->>'total_cents') AS total_cents,
               min(e.data->>'order_number') AS number
          FROM events e
         WHERE e.account_id = %(account)s
           AND e.type IN ('checkout.completed', 'order.paid', 'order.cancelled', 'order.fulfilled')
         GROUP BY e.type, e.data->>'order_id'
    )
"""
_OF_ORDERS = f"""
    {_TOLD}
    SELECT o.id, CASE COALESCE(t.times, 0) WHEN 0 THEN 'no event' ELSE t.times || ' events' END, event.type,
           CASE WHEN event.is_due THEN ''
                ELSE format(', though it is %%s, %%s and %%s', o.status, o.payment_status, o.fulfillment_status) END
      FROM orders o
     CROSS JOIN LATERAL (VALUES
           ('checkout.completed', true), ('order.paid', o.payment_status <> 'pending'),
           ('order.cancelled', o.status = 'cancelled'), ('order.fulfilled', o.fulfillment_status = 'fulfilled')
           ) AS event (type, is_due)
      LEFT JOIN told t ON t.type = event.type AND t.order_id = o.id::text
     WHERE o.account_id = %(account)s AND COALESCE(t.times, 0) <> CASE WHEN event.is_due THEN 1 ELSE 0 END
     ORDER BY o.id, event.type
"""  # noqa: S608  the expression is constant
# Events have amounts and ids as text, as clients read them.
_FIGURES = f"""
    {_TOLD}
    SELECT o.id, o.number, o.total_cents, t.type, COALESCE(t.number, 'none'), COALESCE(t.total_cents, 'none')
      FROM orders o
      JOIN told t ON t.order_id = o.id::text
     WHERE o.account_id = %(account)s AND (t.number, t.total_cents) IS DISTINCT FROM (o.number::text, o.total_cents::text)
     ORDER BY o.id, t.type
"""  # noqa: S608  the expression is constant
# Reversals have no event.
_OF_GIFT_CARDS = """
    WITH told AS (
        SELECT e.type, e.data->>'voucher_id' AS voucher_id, count(*) AS times
          FROM events e
         WHERE e.account_id = %(account)s AND e.type IN ('voucher.issued', 'voucher.redeemed')
         GROUP BY e.type, e.data->>'voucher_id'
    ), entered AS (
        SELECT r.voucher_id, CASE r.kind WHEN 'issue' THEN 'voucher.issued' ELSE 'voucher.redeemed' END AS type,
               count(*) AS times
          FROM voucher_redemptions r
         WHERE r.account_id = %(account)s AND r.kind IN ('issue', 'redeem')
         GROUP BY r.voucher_id, r.kind
    )
    SELECT n.voucher_id, n.times, n.type, COALESCE(t.times, 0)
      FROM entered n
      LEFT JOIN told t ON t.type = n.type AND t.voucher_id = n.voucher_id::text
     WHERE n.times <> COALESCE(t.times, 0)
     ORDER BY n.voucher_id, n.type
"""

CHECKS = (
    Check("order {} has {} {}{}", _OF_ORDERS),
    Check("order {} is number {} and costs {}, but its event {} says number {} and {}", _FIGURES),
    Check("gift card {} should have {} events {}, by its ledger, but has {}", _OF_GIFT_CARDS),
)
