"""Check that amounts that belong together have the same currency. Lines of carts and checkouts have none of their own.

Payment attempts that succeeded or are in progress are checked in `money`.
"""

from .checks import Check

_CURRENCIES = """
    SELECT found.kind, found.id, found.currency, found.of_kind, found.of_id, found.of_currency
      FROM (SELECT 'checkout' AS kind, k.id, k.currency, 'cart' AS of_kind, c.id AS of_id, c.currency AS of_currency
              FROM checkouts k
              JOIN carts c ON c.account_id = k.account_id AND c.id = k.cart_id
             WHERE k.account_id = %(account)s
             UNION ALL
            SELECT 'payment attempt', a.id, a.currency, 'checkout', k.id, k.currency
              FROM checkout_payment_attempts a
              JOIN checkouts k ON k.account_id = a.account_id AND k.id = a.checkout_id
             WHERE a.account_id = %(account)s AND a.status <> 'succeeded' AND k.phase <> 'processing'
             UNION ALL
            SELECT 'gift card', v.id, v.currency, 'order', o.id, o.currency
              FROM voucher_redemptions r
              JOIN vouchers v ON v.account_id = r.account_id AND v.id = r.voucher_id
              JOIN orders o ON o.account_id = r.account_id AND o.id = r.order_id
             WHERE r.account_id = %(account)s AND r.kind = 'redeem'
             UNION ALL
            SELECT 'gift card', v.id, v.currency, 'checkout', k.id, k.currency
              FROM voucher_holds h
              JOIN vouchers v ON v.account_id = h.account_id AND v.id = h.voucher_id
              JOIN checkouts k ON k.account_id = h.account_id AND k.id = h.checkout_id
             WHERE h.account_id = %(account)s
             UNION ALL
            SELECT 'discount redemption', r.id, r.currency, 'order', o.id, o.currency
              FROM discount_redemptions r
              JOIN orders o ON o.account_id = r.account_id AND o.id = r.order_id
             WHERE r.account_id = %(account)s
             UNION ALL
            SELECT 'discount hold', h.id, h.currency, 'checkout', k.id, k.currency
              FROM discount_holds h
              JOIN checkouts k ON k.account_id = h.account_id AND k.id = h.checkout_id
             WHERE h.account_id = %(account)s) found
     WHERE found.currency <> found.of_currency
     ORDER BY found.kind, found.id
"""

CHECKS = (Check("{} {} is in {}, but {} {} is in {}", _CURRENCIES),)
