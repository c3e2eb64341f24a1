"""Compare the gift cards and discounts used by checkouts and orders with holds and ledgers, in both directions."""

from .checks import Check

# The codes and automatic discounts of sessions (checkouts or orders) that take something off.
_COMPARED = """
    WITH named AS (
        SELECT s.id AS session_id, (e.entry->>'{key}')::bigint AS used_id,
               sum((e.entry->>'amount_cents')::bigint) AS cents
          FROM {sessions} s
         CROSS JOIN LATERAL jsonb_array_elements(s.discount_codes || s.automatic_discounts) AS e (entry)
         WHERE s.account_id = %(account)s AND {which}
           AND e.entry->>'{key}' IS NOT NULL AND e.entry->>'amount_cents' <> '0'
         GROUP BY s.id, used_id
    ), kept AS ({kept})
    SELECT COALESCE(n.session_id, k.session_id) AS session_id, COALESCE(n.used_id, k.used_id) AS used_id,
           COALESCE(n.cents, 0), COALESCE(k.cents, 0)
      FROM named n
      FULL JOIN kept k ON k.session_id = n.session_id AND k.used_id = n.used_id
     WHERE COALESCE(n.cents, 0) <> COALESCE(k.cents, 0)
     ORDER BY session_id, used_id
"""
# Entries with a checkout only: those redeemed by hand, at a till, have none, and their orders don't mention them.
_REDEEMED_CARDS = """
    SELECT r.order_id AS session_id, r.voucher_id AS used_id, -sum(r.amount_cents) AS cents
      FROM voucher_redemptions r
     WHERE r.account_id = %(account)s AND r.kind = 'redeem' AND r.checkout_id IS NOT NULL
     GROUP BY r.order_id, r.voucher_id
"""
_REDEEMED_DISCOUNTS = """
    SELECT r.order_id AS session_id, r.discount_id AS used_id, sum(r.amount_cents) AS cents
      FROM discount_redemptions r
     WHERE r.account_id = %(account)s AND r.kind = 'redeem'
     GROUP BY r.order_id, r.discount_id
"""
_HELD = """
    SELECT h.checkout_id AS session_id, h.{used} AS used_id, h.amount_cents AS cents
      FROM {table} h
      JOIN checkouts k ON k.account_id = h.account_id AND k.id = h.checkout_id
     WHERE h.account_id = %(account)s AND k.phase = 'processing'
"""
# A cancelled order has returned everything it took, also at a till. A refunded one has returned what it took from gift
# cards. Any other order has returned nothing.
_RETURNED = """
    SELECT o.id, CASE WHEN o.status = 'closed' AND o.payment_status = 'refunded' THEN 'refunded' ELSE o.status END,
           r.used_id, r.taken, r.returned
      FROM orders o
      JOIN (SELECT p.order_id, p.{used} AS used_id,
                   COALESCE(sum(abs(p.amount_cents)) FILTER (WHERE p.kind = 'redeem'), 0) AS taken,
                   COALESCE(sum(abs(p.amount_cents)) FILTER (WHERE p.kind = 'reversal'), 0) AS returned
              FROM {ledger} p
             WHERE p.account_id = %(account)s AND p.kind IN ('redeem', 'reversal') AND p.order_id IS NOT NULL
             GROUP BY p.order_id, p.{used}) r ON r.order_id = o.id
     WHERE o.account_id = %(account)s AND r.returned <> CASE WHEN {is_returned} THEN r.taken ELSE 0 END
     ORDER BY o.id, r.used_id
"""
_ORDERS_OF_ENTRIES = """
    SELECT r.id, r.order_id, o.checkout_id, r.checkout_id
      FROM {ledger} r
      JOIN orders o ON o.account_id = r.account_id AND o.id = r.order_id
     WHERE r.account_id = %(account)s AND r.checkout_id <> o.checkout_id
     ORDER BY r.id
"""
# Entries are written under the gift card's lock, so that ids are in chronological order.
_RUNNING_BALANCES = """
    SELECT r.id, r.voucher_id, r.balance_after_cents, r.ledger_cents
      FROM (SELECT p.id, p.voucher_id, p.balance_after_cents,
                   sum(p.amount_cents) OVER (PARTITION BY p.voucher_id ORDER BY p.id) AS ledger_cents
              FROM voucher_redemptions p
             WHERE p.account_id = %(account)s) r
     WHERE r.balance_after_cents <> r.ledger_cents
     ORDER BY r.id
"""
_CARDS_WITHOUT_STATUS = """
    SELECT v.id, v.status, v.balance_cents
      FROM vouchers v
     WHERE v.account_id = %(account)s
       AND (v.status = 'depleted' AND v.balance_cents > 0
            OR v.status = 'active' AND v.balance_cents = 0 AND (v.expires_at IS NULL OR v.expires_at > now()))
     ORDER BY v.id
"""

# Each of these columns is written together with the status or the kind.
_INCOMPLETE = """
    SELECT found.kind, found.id, found.status, found.missing
      FROM (SELECT 'voucher' AS kind, v.id, v.status,
                   CASE v.status WHEN 'expired' THEN 'expires_at' WHEN 'disabled' THEN 'disabled_at'
                                 ELSE 'revoked_at' END AS missing
              FROM vouchers v
             WHERE v.account_id = %(account)s
               AND (v.status = 'expired' AND v.expires_at IS NULL OR v.status = 'disabled' AND v.disabled_at IS NULL
                    OR v.status = 'revoked' AND v.revoked_at IS NULL)
             UNION ALL
            SELECT 'discount', d.id, d.status, 'archived_at'
              FROM discounts d
             WHERE d.account_id = %(account)s AND d.status = 'archived' AND d.archived_at IS NULL
             UNION ALL
            SELECT 'gift card entry', r.id, r.kind, 'order_id'
              FROM voucher_redemptions r
             WHERE r.account_id = %(account)s AND r.kind = 'reversal' AND r.order_id IS NULL) found
     ORDER BY found.kind, found.id
"""
_FIRST_ENTRIES = """
    SELECT v.id, v.initial_balance_cents, COALESCE(i.entries, 0), COALESCE(i.cents, 0)
      FROM vouchers v
      LEFT JOIN (SELECT p.voucher_id, count(*) AS entries, sum(p.amount_cents) AS cents
                   FROM voucher_redemptions p
                  WHERE p.account_id = %(account)s AND p.kind = 'issue'
                  GROUP BY p.voucher_id) i ON i.voucher_id = v.id
     WHERE v.account_id = %(account)s AND (COALESCE(i.entries, 0), COALESCE(i.cents, 0)) <> (1, v.initial_balance_cents)
     ORDER BY v.id
"""


def _check_named(text: str, *, sessions: str, key: str, which: str, kept: str) -> Check:
    return Check(text, _COMPARED.format(sessions=sessions, key=key, which=which, kept=kept))


CHECKS = (
    _check_named(
        "order {} says that gift card {} paid {}, but the gift card's ledger says {}",
        sessions="orders",
        key="voucher_id",
        which="true",
        kept=_REDEEMED_CARDS,
    ),
    _check_named(
        "order {} says that discount {} took off {}, but the redemptions say {}",
        sessions="orders",
        key="discount_id",
        which="true",
        kept=_REDEEMED_DISCOUNTS,
    ),
    _check_named(
        "checkout {} is being paid with gift card {} for {}, but holds {} of it",
        sessions="checkouts",
        key="voucher_id",
        which="s.phase = 'processing'",
        kept=_HELD.format(table="voucher_holds", used="voucher_id"),
    ),
    _check_named(
        "checkout {} is being paid with discount {} for {}, but its hold of a use is for {}",
        sessions="checkouts",
        key="discount_id",
        which="s.phase = 'processing'",
        kept=_HELD.format(table="discount_holds", used="discount_id"),
    ),
    Check(
        "order {} is {}: gift card {} paid {} for it and got {} back",
        _RETURNED.format(
            ledger="voucher_redemptions",
            used="voucher_id",
            is_returned="o.status = 'cancelled' OR o.payment_status = 'refunded'",
        ),
    ),
    Check(
        "order {} is {}: discount {} took off {}, of which {} was reversed",
        _RETURNED.format(
            ledger="discount_redemptions", used="discount_id", is_returned="o.status = 'cancelled'"
        ),
    ),
    Check(
        "gift card entry {} belongs to order {}, whose checkout is {}, but names checkout {}",
        _ORDERS_OF_ENTRIES.format(ledger="voucher_redemptions"),
    ),
    Check(
        "discount redemption {} belongs to order {}, whose checkout is {}, but names checkout {}",
        _ORDERS_OF_ENTRIES.format(ledger="discount_redemptions"),
    ),
    Check(
        "entry {} of gift card {} says that {} was left, but the ledger up to it comes to {}",
        _RUNNING_BALANCES,
    ),
    Check("{} {} is {}, but has no {}", _INCOMPLETE),
    Check("voucher {} began with {}, but its ledger has {} first entries, of {}", _FIRST_ENTRIES),
    Check("voucher {} is {}, with a balance of {}", _CARDS_WITHOUT_STATUS),
)
