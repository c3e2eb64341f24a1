"""What people and clean-up do with dispatches: retry, cancel, erase, prune."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import orjson
from django.db import connection

from commerce.outbox.errors import DispatchNotCancellable, DispatchNotRetryable
from commerce.outbox.handlers import tasks_to_forget
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.queries import get_dispatch
from commerce.tenancy.locks import lock_now
from commerce.tenancy.scope import current_account_id
from commerce.wording import Choice, Wording

Status = OutboxDispatch.Status

# A waiting dispatch is cancelled. The status of a running one is left to the worker that holds it.
_ERASE = """
    UPDATE outbox_dispatches
       SET payload = payload - %s::text[], message = NULL, last_error = '',
           status = CASE status WHEN 'pending' THEN 'cancelled' ELSE status END,
           finished_at = CASE status WHEN 'pending' THEN %s::timestamptz ELSE finished_at END
     WHERE account_id = %s AND target->>'task_name' = %s AND payload @> %s::jsonb
"""


def retry_dispatch(*, dispatch_id: int, now: datetime) -> OutboxDispatch:
    """Restart a dead or cancelled dispatch with all its retries. Raises `NotFound`, `DispatchNotRetryable`."""
    retryable = OutboxDispatch.objects.filter(pk=dispatch_id, status__in=[Status.DEAD, Status.CANCELLED])
    # Written before it is read: a check before the write could be outdated by another request's retry.
    restarted = retryable.update(status=Status.PENDING, attempts=0, due_at=now, finished_at=None)
    dispatch = get_dispatch(dispatch_id)
    if not restarted:
        detail = Wording(
            "Dispatch %(id)s is %(status)s: only a dead or cancelled one can be retried.",
            id=dispatch_id,
            status=Choice(dispatch.status),
        )
        raise DispatchNotRetryable(detail, dispatch_status=dispatch.status)
    return dispatch


def cancel_dispatch(*, dispatch_id: int, now: datetime) -> OutboxDispatch:
    """Cancel a waiting or dead dispatch; repeated, it changes nothing.

    Raises `NotFound`, `DispatchNotCancellable`.
    """
    waiting = OutboxDispatch.objects.filter(pk=dispatch_id, status__in=[Status.PENDING, Status.DEAD])
    waiting.update(status=Status.CANCELLED, finished_at=now)
    dispatch = get_dispatch(dispatch_id)
    # Not by the row count: a dispatch that was cancelled before is not an error.
    if dispatch.status != Status.CANCELLED:
        detail = Wording(
            "Dispatch %(id)s is %(status)s: only a pending or dead one can be cancelled.",
            id=dispatch_id,
            status=Choice(dispatch.status),
        )
        raise DispatchNotCancellable(detail, dispatch_status=dispatch.status)
    return dispatch


def erase_dispatches(
    *, task_name: str, about: Mapping[str, object], personal_keys: list[str], now: datetime
) -> None:
    """Erase personal data from the dispatches whose payload contains `about`, and cancel those that wait."""
    # In the order in which workers lock those of a batch.
    lock_now(OutboxDispatch.objects.filter(target__task_name=task_name, payload__contains=about))
    with connection.cursor() as cursor:
        matching = orjson.dumps(about).decode()
        cursor.execute(_ERASE, [personal_keys, now, current_account_id(), task_name, matching])


def prune_dispatches(*, max_age: timedelta, batch: int, passed_over: int = 0) -> tuple[int, list[int]]:
    """Delete dispatches of every account that ended longer ago than `max_age`.

    Returns how many were deleted, and the ids of those that couldn't be. `passed_over` such rows are skipped.
    Dead ones stay, as somebody is still owed them, unless their task says otherwise. Call it outside of any scope.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT deleted, failed FROM prune_ended_dispatches("
            "make_interval(secs => %s), %s::int, %s::int, %s::text[])",
            [max_age.total_seconds(), batch, passed_over, tasks_to_forget()],
        )
        return cursor.fetchone()
