"""Archiving a shop: what it ends, and what keeps the shop accessible. Apps above accounts register their parts."""

from collections.abc import Callable
from datetime import datetime

from django.db import connection

from commerce.tenancy.scope import account_scope, current_account_id
from commerce.tenancy.statements import Prepared, post

Step = Callable[[datetime], None]
DebtCheck = Callable[[], bool]

_first_steps: list[Step] = []
_steps: list[Step] = []
_debt_checks: list[DebtCheck] = []

# PostgreSQL queues these locks fairly. A share lock of the account's row would let business that never pauses keep
# every change of that row waiting.
_SHARE = Prepared("SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))")
_EXCLUDE = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


def on_archiving(step: Step) -> Step:
    """Register a step of archiving. Apps import the registering module in their `ready()`.

    Steps run in the account's scope, in the transaction that archives it, after its status has changed and its
    checkouts have ended. So they may lock their app's own tables. They run again if an archived shop is archived again.
    """
    _steps.append(step)
    return step


def first_on_archiving(step: Step) -> Step:
    """Register a step that locks tables of `tenancy.locks.Resource`. It runs before those of `on_archiving`."""
    _first_steps.append(step)
    return step


def register_debt_check(check: DebtCheck) -> DebtCheck:
    """Register a check that tells whether the account in scope still expects money, or owes some to a customer."""
    _debt_checks.append(check)
    return check


def hold_off_archiving() -> None:
    """Keep the account in scope from being archived until the transaction ends.

    Call it before new business begins, and before the account's status is read: either archiving waits, and then ends
    that business, or it came first, and the status says so.
    """
    post(_SHARE.call([_name_lock(current_account_id())]))


def wait_for_business(account_id: int) -> None:
    """Wait for business that is beginning now, and let no more begin until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(_EXCLUDE, [_name_lock(account_id)])


def _name_lock(account_id: int) -> str:
    # Advisory locks are numbers shared by the whole database. The prefix keeps other uses of an id apart.
    return f"archiving/{account_id}"


def end_business(account_id: int, *, now: datetime) -> None:
    """Run every step for an account that the caller's workspace scope has just archived."""
    with account_scope(account_id):
        for step in (*_first_steps, *_steps):
            step(now)


def has_debts(account_id: int) -> bool:
    """Whether money of an archived shop is outstanding. Call it outside of any scope."""
    with account_scope(account_id):
        return any(check() for check in _debt_checks)
