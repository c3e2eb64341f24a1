"""Compare payments with orders and refunds: no money is kept without an order, and no refund is forgotten."""

from .checks import Check

# A successful payment belongs to an order, or to a checkout that is about to be completed. Without a gateway, an
# attempt says nothing about whether the money has arrived.
_PAID = """
    SELECT a.id, a.amount_cents, a.currency,
           CASE WHEN o.id IS NULL THEN format('checkout %%s is %%s', k.id, k.phase)
                ELSE format('order %%s is %%s and costs %%s %%s', o.id, o.payment_status, o.amount_due_cents, o.currency)
           END
      FROM checkout_payment_attempts a
      JOIN checkouts k ON k.account_id = a.account_id AND k.id = a.checkout_id
      LEFT JOIN orders o ON o.account_id = k.account_id AND o.checkout_id = k.id
     WHERE a.account_id = %(account)s AND a.status = 'succeeded'
       AND (o.id IS NULL
            OR (a.amount_cents, a.currency) <> (o.amount_due_cents, o.currency)
            OR a.gateway_key IS NOT NULL AND o.payment_status = 'pending')
       AND NOT (o.id IS NULL AND k.phase = 'processing' AND k.ready_to_complete
                AND (a.amount_cents, a.currency) = (k.amount_due_cents, k.currency))
       AND NOT (o.id IS NULL AND (a.gateway_key IS NULL OR a.refunded_at IS NOT NULL OR {owed}))
     ORDER BY a.id
"""
# Every order comes from a successful attempt, also if nothing is due or the money comes on delivery.
_ORDERS_PAID_ONCE = """
    SELECT o.id, count(a.id)
      FROM orders o
      LEFT JOIN checkout_payment_attempts a
        ON a.account_id = o.account_id AND a.checkout_id = o.checkout_id AND a.status = 'succeeded'
     WHERE o.account_id = %(account)s
       AND EXISTS (SELECT FROM checkouts k WHERE k.account_id = o.account_id AND k.id = o.checkout_id)
     GROUP BY o.id
    HAVING count(a.id) <> 1
     ORDER BY o.id
"""
# A refund in progress has a dispatch that still has to run.
_OWED = """EXISTS (SELECT FROM outbox_dispatches d
                    WHERE d.account_id = a.account_id AND d.key_space = 'product'
                      AND d.idempotency_key = 'refund_payment/' || a.id AND d.status IN ('pending', 'processing'))"""
_REFUNDS = """
    SELECT a.id, a.amount_cents, a.currency, COALESCE(d.status, 'missing')
      FROM checkout_payment_attempts a
      LEFT JOIN orders o ON o.account_id = a.account_id AND o.checkout_id = a.checkout_id
      LEFT JOIN outbox_dispatches d
        ON d.account_id = a.account_id AND d.key_space = 'product'
       AND d.idempotency_key = 'refund_payment/' || a.id
     WHERE a.account_id = %(account)s AND a.gateway_key IS NOT NULL AND a.refunded_at IS NULL
       AND (a.paid_late_at IS NOT NULL OR a.status = 'failed' AND a.failure_code = 'paid_too_late'
            OR a.status = 'succeeded' AND o.status = 'cancelled' AND o.payment_status = 'paid')
       AND COALESCE(d.status, 'missing') NOT IN ('pending', 'processing')
     ORDER BY a.id
"""
# Recording the refund of an order's payment also changes the order.
_REFUNDED = """
    SELECT a.id, o.id, o.payment_status
      FROM checkout_payment_attempts a
      JOIN orders o ON o.account_id = a.account_id AND o.checkout_id = a.checkout_id
     WHERE a.account_id = %(account)s AND a.status = 'succeeded' AND a.refunded_at IS NOT NULL
       AND o.payment_status IN ('pending', 'paid')
     ORDER BY a.id
"""
# The page of an ended checkout may still be paid until its cancellation has run.
_OPEN_PAGES = """
    SELECT a.id, k.id, a.status, COALESCE(d.status, 'missing')
      FROM checkout_payment_attempts a
      JOIN checkouts k ON k.account_id = a.account_id AND k.id = a.checkout_id
      LEFT JOIN outbox_dispatches d
        ON d.account_id = a.account_id AND d.key_space = 'product'
       AND d.idempotency_key = 'cancel_payment/' || a.id
     WHERE a.account_id = %(account)s AND a.gateway_key IS NOT NULL
       AND a.status IN ('pending', 'requires_action') AND k.phase <> ALL(%(open_phases)s::text[])
       AND COALESCE(d.status, 'missing') NOT IN ('pending', 'processing')
     ORDER BY a.id
"""
# Only the phase `processing` has open attempts. In any other, nobody would ask the gateway.
_OPEN_ATTEMPTS = """
    SELECT a.id, a.status, k.id, k.phase
      FROM checkout_payment_attempts a
      JOIN checkouts k ON k.account_id = a.account_id AND k.id = a.checkout_id
     WHERE a.account_id = %(account)s AND a.status IN ('pending', 'requires_action')
       AND k.phase <> 'processing' AND k.phase = ANY(%(open_phases)s::text[])
     ORDER BY a.id
"""
# Without the gateway's key and reference, the payment can't be refunded.
_UNNAMED = """
    SELECT a.id, a.payment_method, a.amount_cents, a.currency,
           CASE WHEN a.gateway_key IS NULL THEN 'key' WHEN a.provider_reference IS NULL THEN 'reference'
                ELSE 'time of confirmation' END
      FROM checkout_payment_attempts a
     WHERE a.account_id = %(account)s AND a.status = 'succeeded'
       AND (a.gateway_key IS NULL AND a.amount_cents > 0 AND a.payment_method = ANY(%(gateway_methods)s::text[])
            OR a.gateway_key IS NOT NULL AND a.provider_reference IS NULL
            OR a.confirmed_at IS NULL)
     ORDER BY a.id
"""
_METHODS = """
    SELECT a.id, a.payment_method, o.id, o.payment_method
      FROM checkout_payment_attempts a
      JOIN orders o ON o.account_id = a.account_id AND o.checkout_id = a.checkout_id
     WHERE a.account_id = %(account)s AND a.status = 'succeeded' AND a.payment_method <> o.payment_method
     ORDER BY a.id
"""
# A refund needs the attempt. Without one, nobody returns the money.
_UNREFUNDABLE = """
    SELECT o.id, o.amount_due_cents, o.currency, o.payment_method
      FROM orders o
     WHERE o.account_id = %(account)s AND o.status = 'cancelled' AND o.payment_status = 'paid'
       AND o.amount_due_cents > 0 AND o.payment_method = ANY(%(gateway_methods)s::text[])
       AND NOT EXISTS (SELECT FROM checkout_payment_attempts a
                        WHERE a.account_id = o.account_id AND a.checkout_id = o.checkout_id
                          AND a.status = 'succeeded' AND a.gateway_key IS NOT NULL)
     ORDER BY o.id
"""
# If staff refunded the order themselves, there is a dispatch that failed or was cancelled; it is kept for some days.
_NEVER_REFUNDED = """
    SELECT o.id, a.id
      FROM orders o
      JOIN checkout_payment_attempts a ON a.account_id = o.account_id AND a.checkout_id = o.checkout_id
     WHERE o.account_id = %(account)s AND o.status = 'cancelled' AND o.payment_status = 'refunded'
       AND o.cancelled_at > now() - make_interval(days => %(dispatches_kept_days)s::integer)
       AND a.status = 'succeeded' AND a.gateway_key IS NOT NULL AND a.refunded_at IS NULL
       AND NOT EXISTS (SELECT FROM outbox_dispatches d
                        WHERE d.account_id = a.account_id AND d.key_space = 'product'
                          AND d.idempotency_key = 'refund_payment/' || a.id)
     ORDER BY o.id
"""
# Refunding needs a cancelled order, and one that is paid and sent is closed.
_STATES = """
    SELECT o.id, o.status, o.payment_status, o.fulfillment_status
      FROM orders o
     WHERE o.account_id = %(account)s AND o.status = 'open'
       AND (o.payment_status = 'refunded' OR o.payment_status = 'paid' AND o.fulfillment_status = 'fulfilled')
     ORDER BY o.id
"""
# Payments that succeeded at a gateway are checked above.
_BEING_PAID = """
    SELECT k.id, k.amount_due_cents, k.currency, CASE WHEN k.ready_to_complete THEN 'is' ELSE 'is not' END,
           CASE WHEN a.id IS NULL THEN 'there is no payment attempt'
                ELSE format('payment attempt %%s of %%s %%s is %%s', a.id, a.amount_cents, a.currency, a.status)
           END
      FROM checkouts k
      LEFT JOIN checkout_payment_attempts a
        ON a.account_id = k.account_id AND a.checkout_id = k.id AND a.status <> 'failed'
     WHERE k.account_id = %(account)s AND k.phase = 'processing'
       AND (a.id IS NULL
            OR (a.amount_cents, a.currency) <> (k.amount_due_cents, k.currency)
               AND NOT (a.status = 'succeeded' AND a.gateway_key IS NOT NULL)
            OR k.ready_to_complete <> (a.status = 'succeeded'))
     ORDER BY k.id
"""

CHECKS = (
    Check("payment attempt {} took {} {}, but {}", _PAID.replace("{owed}", _OWED)),
    Check("order {} has {} successful payments instead of one", _ORDERS_PAID_ONCE),
    Check("payment attempt {} must be refunded ({} {}), but the dispatch of its refund is {}", _REFUNDS),
    Check("payment attempt {} was refunded, but order {} is still {}", _REFUNDED),
    Check(
        "payment attempt {} of ended checkout {} is still {}, and the dispatch of its cancellation is {}",
        _OPEN_PAGES,
    ),
    Check("payment attempt {} by {} took {} {}, but has no {}", _UNNAMED),
    Check("payment attempt {} is by {}, but order {} is paid by {}", _METHODS),
    Check(
        "order {} was cancelled, but its {} {}, paid by {}, can't be refunded: its payment is missing",
        _UNREFUNDABLE,
    ),
    Check("order {} is refunded, but payment attempt {} was never refunded", _NEVER_REFUNDED),
    Check("order {} is still {}, though it is {} and {}", _STATES),
    Check("payment attempt {} is {}, but its checkout {} isn't being paid: it is {}", _OPEN_ATTEMPTS),
    Check("checkout {} is being paid ({} {}) and {} ready to complete, but {}", _BEING_PAID),
)
