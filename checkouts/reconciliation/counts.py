"""Compare customers' figures and the order counter with orders, and emails with their orders and dispatches."""

from .checks import Check, compare_sums

# Only recent orders, because dispatches are pruned after that time.
_EMAILS = """
    SELECT o.id, email.template
      FROM orders o
     CROSS JOIN LATERAL (VALUES
           ('order.confirmation', o.placed_at), ('order.cancelled', o.cancelled_at), ('order.shipped', o.fulfilled_at)
           ) AS email (template, since)
     WHERE o.account_id = %(account)s
       AND email.since > now() - make_interval(days => %(dispatches_kept_days)s::integer)
       AND NOT EXISTS (SELECT FROM outbox_dispatches d
                        WHERE d.account_id = o.account_id AND d.key_space = 'product'
                          AND d.idempotency_key = email.template || '/' || o.token)
       AND NOT EXISTS (SELECT FROM email_deliveries e
                        WHERE e.account_id = o.account_id AND e.key_space = 'product'
                          AND e.idempotency_key = email.template || '/' || o.token)
     ORDER BY o.id, email.template
"""
# A delivery is recorded in the transaction that closes its dispatch.
_SENT = """
    SELECT d.id, d.idempotency_key
      FROM outbox_dispatches d
     WHERE d.account_id = %(account)s AND d.target->>'task_name' = 'send_email' AND d.status = 'succeeded'
       AND NOT EXISTS (SELECT FROM email_deliveries e
                        WHERE e.account_id = d.account_id AND e.key_space = d.key_space
                          AND e.idempotency_key = d.idempotency_key)
     ORDER BY d.id
"""
_ORDERS_OF_EMAILS = """
    SELECT e.id, e.template_key, e.reference_id
      FROM email_deliveries e
     WHERE e.account_id = %(account)s AND e.key_space = 'product' AND e.reference_type = 'order'
       AND NOT EXISTS (SELECT FROM orders o WHERE o.account_id = e.account_id AND o.id = e.reference_id)
     ORDER BY e.id
"""
_NUMBERS = """
    SELECT o.number, COALESCE(max(c.last_number)::text, 'none')
      FROM (SELECT max(number) AS number FROM orders WHERE account_id = %(account)s) o
      LEFT JOIN order_counters c ON c.account_id = %(account)s
     GROUP BY o.number
    HAVING o.number > COALESCE(max(c.last_number), 0)
"""

CHECKS = (
    compare_sums(
        "customer {} counts {} orders, but has {} that are not cancelled",
        table="customers",
        column="orders_count",
        parts="orders",
        reference="customer_id",
        total="count(*)",
        which="p.status <> 'cancelled'",
    ),
    Check("order {} has no email {}, neither sent nor waiting", _EMAILS),
    Check("dispatch {} has sent the email {}, but there is no delivery of it", _SENT),
    Check("email delivery {} of {} refers to order {}, which does not exist", _ORDERS_OF_EMAILS),
    Check("the highest order number is {}, but the counter is at {}", _NUMBERS),
)
