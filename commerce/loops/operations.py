"""Loops over rows and accounts that go on past failures.

A row that fails is logged with its id, counted in `commerce_loop_failures_total`, and skipped for a while, longer each
time, so that the loop doesn't meet it first again. A failure of the database server isn't the row's: it ends the loop,
which will run again.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection

from commerce.metrics import count_loop_failure
from commerce.tenancy.scope import account_scope, current_account_id

logger = logging.getLogger(__name__)

T = TypeVar("T")

# The power is bounded, as it would overflow after some dozens of failures. The last line names the account, by which a
# sharded table is distributed.
_POSTPONE = """
    INSERT INTO postponed_rows AS p (account_id, loop, row_id, failures, retry_at, last_error, created_at)
    VALUES (%s, %s, %s, 1, clock_timestamp() + interval '1 minute', %s, clock_timestamp())
    ON CONFLICT (account_id, loop, row_id) DO UPDATE
       SET failures = p.failures + 1, last_error = excluded.last_error,
           retry_at = clock_timestamp() + least(interval '1 minute' * 2 ^ least(p.failures, 12), interval '6 hours')
     WHERE p.account_id = excluded.account_id
"""
_FORGET = "DELETE FROM postponed_rows WHERE account_id = %s AND loop = %s AND row_id = ANY(%s)"


@contextmanager
def continue_after_failure(loop: str, **ids: object) -> Iterator[None]:
    """Log and count an error in one part of a loop, and let the loop go on. Failures of the server end it."""
    try:
        yield
    except Exception as error:
        if is_server_failure(error):
            raise
        note_failure(loop, error, **ids)


def note_failure(loop: str, error: Exception, **ids: object) -> None:
    """Log and count a failure. The ids say what the loop goes on without."""
    count_loop_failure(loop)
    named = ", ".join(f"{name} {value}" for name, value in ids.items())
    logger.error("%s goes on without %s", loop, named, exc_info=error)


def find_due_rows(sql: str, *, batch: int) -> dict[int, list[int]]:
    """Return the ids of due rows by the id of their account, at most `batch`. `sql` selects both ids.

    It calls a function of another role, because policies let this one see no rows outside of an account's scope.
    """
    rows: defaultdict[int, list[int]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(sql, [batch])
        for account_id, row_id in cursor.fetchall():
            rows[account_id].append(row_id)
    return rows


def handle_rows(
    loop: str, *, account_id: int, row_ids: Sequence[int], work: Callable[[Sequence[int]], T]
) -> list[T]:
    """Call `work` for rows of an account in one scope. If that fails, split them, down to single rows.

    A row that fails alone is postponed. Returns what `work` returned.
    """
    try:
        with account_scope(account_id):
            return [work(row_ids)]
    except Exception as error:
        if is_server_failure(error):
            raise
        if len(row_ids) == 1:
            postpone(loop, account_id=account_id, row_id=row_ids[0], error=error)
            return []
    # Halves rather than single rows: one failing row among many costs few further transactions.
    middle = len(row_ids) // 2
    halves = (row_ids[:middle], row_ids[middle:])
    return [
        result
        for half in halves
        for result in handle_rows(loop, account_id=account_id, row_ids=half, work=work)
    ]


def postpone(loop: str, *, account_id: int, row_id: int, error: Exception) -> None:
    """Skip a row for a while. Call it outside of any scope, as the row's own transaction is rolled back."""
    note_failure(loop, error, account=account_id, row=row_id)
    # Only the error's name: its text may contain personal data.
    reason = type(error).__name__
    # This may fail for the same reason as the row. The loop goes on even then.
    with continue_after_failure(loop, account=account_id, row=row_id), account_scope(account_id):
        _execute(_POSTPONE, [account_id, loop, row_id, reason])


def forget_postponed(loop: str, row_ids: Iterable[int]) -> None:
    """Reset the failures of these rows of the account in scope, as they have been dealt with."""
    _execute(_FORGET, [current_account_id(), loop, list(row_ids)])


def prune_in_batches(
    loop: str, prune: Callable[[int, int], tuple[int, Sequence[object]]], *, batch: int, batches: int
) -> None:
    """Call `prune(batch, passed_over)` until nothing is left to delete, past rows that can't be deleted."""
    # Rows are taken oldest first, so those that can't be deleted are the first of each batch.
    passed_over = 0
    for _ in range(batches):
        deleted, failed = prune(batch, passed_over)
        for row_id in failed:
            count_loop_failure(loop)
            logger.error("%s goes on without row %s, which can't be deleted", loop, row_id)
        passed_over += len(failed)
        # There were fewer rows than a batch has, so none are left.
        if deleted + len(failed) < batch:
            break


def is_server_failure(error: BaseException) -> bool:
    """Whether the error is about the database server rather than about a row."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    sqlstate = getattr(error.__cause__, "sqlstate", None)
    # Without a state, the client found the connection broken. Classes of PostgreSQL's appendix A: connection exceptions,
    # insufficient resources, and shutdowns. Others, such as a lock time-out, may concern one row alone.
    return sqlstate is None or sqlstate.startswith(("08", "53", "57P"))


def _execute(sql: str, parameters: list[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
