"""Hooks by which apps above orders undo their own part when an order is cancelled."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from commerce.orders.models import Order


@dataclass(slots=True, kw_only=True)
class Cancellation:
    """An order about to be cancelled, with its current status. `actor` is written to ledgers.

    A step sets `is_refunded_later` if it has the money refunded afterwards, which is recorded only then.
    """

    order: Order
    actor: str
    now: datetime
    is_refunded_later: bool = False


Step = Callable[[Cancellation], None]

_first_steps: list[Step] = []
_steps: list[Step] = []


def on_cancellation(step: Step) -> Step:
    """Register a step of every cancellation. Apps import the registering module in their `ready()`.

    Steps run once for each order, in the transaction of the cancellation, when everything that the product itself
    changes is locked. So they may lock their app's own tables. If a step raises an exception, all is rolled back.
    """
    _steps.append(step)
    return step


def first_on_cancellation(step: Step) -> Step:
    """Register a step that locks discounts or gift cards, which come before stock in the order of locks.

    It runs under the order's lock, before stock is freed.
    """
    _first_steps.append(step)
    return step


def run_first_steps(cancellation: Cancellation) -> None:
    for step in _first_steps:
        step(cancellation)


def run_steps(cancellation: Cancellation) -> None:
    """Run the steps in the order of INSTALLED_APPS, so that locks are always taken in the same order."""
    for step in _steps:
        step(cancellation)
