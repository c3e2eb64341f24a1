"""A check at startup: every payment that is open or may have to be refunded has its gateway."""

from collections.abc import Sequence

from django.core import checks
from django.db import connections

from commerce.payments.connectors import list_gateway_methods

_FUNCTION = "methods_with_open_money()"


@checks.register(checks.Tags.database)
def check_gateways(databases: Sequence[str] | None = None, **kwargs: object) -> list[checks.CheckMessage]:
    """Name the payment methods that still have money to take or give back, but no gateway any more."""
    if "default" not in (databases or ()):
        return []
    with connections["default"].cursor() as cursor:
        # Before it is migrated, the database has no such function. Its owner may not call it.
        cursor.execute("SELECT has_function_privilege(to_regprocedure(%s), 'EXECUTE')", [_FUNCTION])
        if not cursor.fetchone()[0]:
            return []
        cursor.execute("SELECT payment_method FROM methods_with_open_money()")
        with_money = {row[0] for row in cursor.fetchall()}
    return [
        checks.Warning(
            f"Payments by {method} are open or may have to be refunded, but PAYMENT_METHODS names no gateway for it.",
            hint="Keep the connector in PAYMENT_METHODS until these payments have ended (docs/extending.md).",
            id="checkouts.W001",
        )
        for method in sorted(with_money.difference(list_gateway_methods()))
    ]
