"""What else is undone when an order is cancelled: each app that stands above orders registers its own part."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from commerce.orders.models import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancellation:
    """An order about to be cancelled, still with the status it has had; `actor` goes into ledgers."""

    order: Order
    actor: str
    now: datetime


Step = Callable[[Cancellation], None]

_steps: list[Step] = []


def on_cancellation(step: Step) -> Step:
    """Register a part of every cancellation; apps import the module that does so in their `ready()`.

    Steps run before the stock is freed, which most checkouts wait for, in the transaction that cancels and under
    the order's lock, hence once for each order. What a step raises undoes the whole.
    """
    _steps.append(step)
    return step


def take_steps(cancellation: Cancellation) -> None:
    """Run the steps in the order of registration, which is that of INSTALLED_APPS, so that locks have one order."""
    for step in _steps:
        step(cancellation)
