"""What ends when a shop is archived, and what keeps it within reach: apps above accounts register their parts."""

from collections.abc import Callable
from datetime import datetime

from commerce.tenancy.scope import account_scope

Step = Callable[[datetime], None]
Debt = Callable[[], bool]

_steps: list[Step] = []
_debts: list[Debt] = []


def on_archiving(step: Step) -> Step:
    """Register what archiving ends; apps import the module that does so in their `ready()`.

    Steps run in the account's scope, in the transaction that archives it, after its status has changed. They may be
    run again for a shop that was archived before.
    """
    _steps.append(step)
    return step


def owes_money(debt: Debt) -> Debt:
    """Register a question: is money of the account in scope still on its way, or owed to a customer?"""
    _debts.append(debt)
    return debt


def end_business(account_id: int, *, now: datetime) -> None:
    """Run every step for an account that the caller's workspace scope has just archived."""
    with account_scope(account_id):
        for step in _steps:
            step(now)


def has_debts(account_id: int) -> bool:
    """Whether an archived shop still owes something; called outside of any scope."""
    with account_scope(account_id):
        return any(debt() for debt in _debts)
