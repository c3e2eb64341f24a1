"""Hooks by which apps above orders undo their own part when an order is cancelled."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from commerce.orders.models import Order


@dataclass(slots=True, kw_only=True)
class Cancellation:
    """An order about to be cancelled, with its current status. `actor` is written to ledgers.

    A step that has the money refunded later, and records that then, sets `is_refunded_later`.
    """

    order: Order
    actor: str
    now: datetime
    is_refunded_later: bool = False


Step = Callable[[Cancellation], None]

_steps: list[Step] = []


def on_cancellation(step: Step) -> Step:
    """Register a step of every cancellation. Apps import the registering module in their `ready()`.

    Steps run in the transaction of the cancellation, before stock is freed, for whose locks most checkouts wait. They run
    under the order's lock, so once for each order. If a step raises an exception, everything is rolled back.
    """
    _steps.append(step)
    return step


def run_cancellation_steps(cancellation: Cancellation) -> None:
    """Run the steps in the order of INSTALLED_APPS, so that locks are always taken in the same order."""
    for step in _steps:
        step(cancellation)
