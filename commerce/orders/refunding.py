"""A hook by which apps above orders keep staff from marking an order refunded that would be refunded twice."""

from collections.abc import Callable

from commerce.orders.models import Order

Check = Callable[[Order], None]

_checks: list[Check] = []


def register_refund_check(check: Check) -> Check:
    """Register a check of orders about to be marked as refunded. Apps import the registering module in their `ready()`.

    It runs under the order's lock, and may raise a refusal.
    """
    _checks.append(check)
    return check


def check_refund(order: Order) -> None:
    for check in _checks:
        check(order)
