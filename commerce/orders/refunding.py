"""Hooks for orders about to be marked as refunded: steps that give back the rest, and checks that may refuse it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from commerce.orders.models import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """An order that is marked as refunded. `actor` is written to ledgers."""

    order: Order
    actor: str
    now: datetime


Step = Callable[[Refund], None]
Check = Callable[[Order], None]

_steps: list[Step] = []
_checks: list[Check] = []


def on_refund(step: Step) -> Step:
    """Register a step of every refund that is recorded. Apps import the registering module in their `ready()`.

    Steps run under the order's lock, again if a refund is recorded again. They may lock discounts and gift cards.
    """
    _steps.append(step)
    return step


def run_refund_steps(refund: Refund) -> None:
    for step in _steps:
        step(refund)


def register_refund_check(check: Check) -> Check:
    """Register a check of orders about to be marked as refunded. Apps import the registering module in their `ready()`.

    It runs under the order's lock, and may raise a refusal.
    """
    _checks.append(check)
    return check


def check_refund(order: Order) -> None:
    for check in _checks:
        check(order)
