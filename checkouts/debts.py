"""Whether a shop's money is settled, which decides how long an archived shop can be reached."""

from django.db import connection

from accounts.archiving import owes_money
from commerce.tenancy.scope import current_account_id

# Money may still come: at a checkout that is open, or at a payment page that is. Money has to go back: it came too
# late, or its order was cancelled. An open order has yet to be paid or sent, or to be cancelled.
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


@owes_money
def has_unsettled_money() -> bool:
    """Whether money of the account in scope may still come in, or has to go back."""
    with connection.cursor() as cursor:
        cursor.execute(_DEBTS, {"account": current_account_id()})
        return cursor.fetchone()[0]
