"""Whether a discount's code is entered somewhere. Apps that let shoppers enter codes register a check."""

from collections.abc import Callable

EnteredCheck = Callable[[int], bool]

_checks: list[EnteredCheck] = []


def register_entered_check(check: EnteredCheck) -> EnteredCheck:
    """Register a check whether a discount id is entered; apps import the registering module in `ready()`."""
    _checks.append(check)
    return check


def is_entered(discount_id: int) -> bool:
    return any(check(discount_id) for check in _checks)
