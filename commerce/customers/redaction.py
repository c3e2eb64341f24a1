"""Hooks by which other apps erase the personal data that they store about a customer."""

from collections.abc import Callable
from datetime import datetime

# Takes the customer's id and the time. Runs in the redaction's transaction, before the customer's row is changed.
Eraser = Callable[[int, datetime], None]

_erasers: list[Eraser] = []


def register_eraser(eraser: Eraser) -> Eraser:
    """Register an eraser. Apps import the registering module in their `ready()`."""
    _erasers.append(eraser)
    return eraser


def erase_person(customer_id: int, *, now: datetime) -> None:
    """Run all erasers."""
    for eraser in _erasers:
        eraser(customer_id, now)
