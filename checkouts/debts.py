"""Whether money of a shop is outstanding, which decides how long it can be reached after archiving."""

from django.db import connection

from accounts.archiving import register_debt_check
from commerce.tenancy.scope import current_account_id

# Money may still come in through an open checkout or payment page. It has to go back if it came too late or its order
# was cancelled. An open order still has to be paid, sent or cancelled.
_DEBTS = """
    SELECT EXISTS (SELECT FROM checkouts k
                    WHERE k.account_id = %(account)s AND k.phase NOT IN ('completed', 'abandoned'))
        OR EXISTS (SELECT FROM checkout_payment_attempts p
                    WHERE p.account_id = %(account)s AND p.gateway_key IS NOT NULL
                      AND (p.status IN ('pending', 'requires_action')
                           OR p.paid_late_at IS NOT NULL AND p.refunded_at IS NULL))
        OR EXISTS (SELECT FROM orders o
                    WHERE o.account_id = %(account)s
                      AND (o.status = 'open' OR o.status = 'cancelled' AND o.payment_status = 'paid'))
"""


@register_debt_check
def is_money_outstanding() -> bool:
    """Whether money may still come in for the account in scope, or has to be refunded."""
    with connection.cursor() as cursor:
        cursor.execute(_DEBTS, {"account": current_account_id()})
        return cursor.fetchone()[0]
