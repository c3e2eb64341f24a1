"""Checks that an account's books agree, each a single statement over all of its rows.

A statement sees one moment of the database, so that a shop that is selling shows no false differences.
"""

from collections.abc import Iterator

from django.conf import settings
from django.db import connection

from checkouts.phases import OPEN_PHASES
from commerce.outbox.handlers import known_tasks
from commerce.payments.connectors import list_cod_fee_methods, list_gateway_methods
from commerce.tenancy.scope import current_account_id

from . import copies, counts, currencies, events, ledgers, money, prices, stock, stuck, totals, uses

_MODULES = (ledgers, uses, stock, totals, prices, copies, money, currencies, counts, events, stuck)
CHECKS = tuple(check for module in _MODULES for check in module.CHECKS)


def find_differences() -> Iterator[str]:
    """Yield a line for each difference in the books of the account in scope; amounts are in cents."""
    parameters = {
        "account": current_account_id(),
        "open_phases": list(OPEN_PHASES),
        "dispatches_kept_days": settings.OUTBOX_KEEP_DAYS,
        "gateway_methods": list_gateway_methods(),
        "fee_methods": list_cod_fee_methods(),
        "tasks": known_tasks(),
    }
    with connection.cursor() as cursor:
        for check in CHECKS:
            cursor.execute(check.sql, parameters)
            yield from [check.text.format(*row) for row in cursor.fetchall()]
