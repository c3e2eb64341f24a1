"""What else knows of a customer's person. Each app registers how it forgets, when it is loaded."""

from collections.abc import Callable
from datetime import datetime

# Runs in the transaction of the redaction, before the customer's own row is changed: customer id, time.
Eraser = Callable[[int, datetime], None]

_erasers: list[Eraser] = []


def erases(eraser: Eraser) -> Eraser:
    """Register what a redaction does besides emptying the customer's row."""
    _erasers.append(eraser)
    return eraser


def erase_person(customer_id: int, *, now: datetime) -> None:
    for eraser in _erasers:
        eraser(customer_id, now)
