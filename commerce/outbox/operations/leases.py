"""What a worker writes about the dispatches that it runs, as long as it holds their leases."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import orjson
from django.db import connection
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from commerce.outbox.claims import LEASE, Claim
from commerce.outbox.error_texts import make_storable
from commerce.outbox.errors import LeaseLost
from commerce.outbox.models import OutboxDispatch
from commerce.tenancy.instances import Columns
from commerce.tenancy.locks import about_to_lock
from commerce.tenancy.models import account_of
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, send

Status = OutboxDispatch.Status

RETRY_DELAYS = (
    timedelta(seconds=30),
    timedelta(seconds=60),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
)
# The largest stored message, in bytes, with which a dispatch joins a batch.
MAX_TAKEN_BYTES = 128 * 1024
# How long a dispatch waits that this worker can't run, as may happen during a deployment.
HANDOVER_DELAY = timedelta(seconds=30)

# Each claim sets a new `locked_until`, so the one that was read tells whose lease it is.
_HELD = "account_id = %s AND id = %s AND status = 'processing' AND locked_until = %s"
_COLUMNS = Columns(OutboxDispatch, "outbox_dispatches")
_BEGIN = Prepared(f"SELECT {_COLUMNS.sql} FROM outbox_dispatches WHERE {_HELD}", reads=True)  # noqa: S608
_TAKE = Prepared(f"""
    UPDATE outbox_dispatches SET status = 'processing', locked_until = clock_timestamp() + make_interval(secs => %s)
     WHERE account_id = %s AND id = ANY (ARRAY(
           SELECT id FROM outbox_dispatches
            WHERE account_id = %s AND target->>'task_name' = %s AND status = 'pending' AND due_at <= statement_timestamp()
              AND coalesce(pg_column_size(message), 0) <= %s
            ORDER BY account_id, target->>'task_name', due_at LIMIT %s FOR UPDATE SKIP LOCKED))
    RETURNING {_COLUMNS.sql}
""")  # noqa: S608
_RELEASE = Prepared(f"UPDATE outbox_dispatches SET status = 'pending', locked_until = NULL WHERE {_HELD}")  # noqa: S608
_STORE = Prepared(f"UPDATE outbox_dispatches SET message = %s::jsonb WHERE {_HELD}")  # noqa: S608
_DROP_MESSAGE = Prepared(f"UPDATE outbox_dispatches SET message = NULL WHERE {_HELD}")  # noqa: S608
# The stored message only serves retries, and contains personal data.
_CLOSE = Prepared(f"""
    UPDATE outbox_dispatches SET status = %s, locked_until = NULL, finished_at = %s, message = NULL
     WHERE {_HELD}
""")  # noqa: S608

# By the row's own attempts: a claim doesn't carry them, and reading the row may be what has failed.
_GIVE_BACK = """
    UPDATE outbox_dispatches
       SET status = CASE WHEN attempts < max_attempts THEN 'pending' ELSE 'dead' END,
           finished_at = CASE WHEN attempts < max_attempts THEN NULL ELSE %s::timestamptz END,
           attempts = least(attempts + 1, max_attempts), due_at = %s, last_error = %s, locked_until = NULL
     WHERE account_id = %s AND id = %s AND status = 'processing' AND locked_until = %s
"""


def begin_dispatches(*, claims: Sequence[Claim], at_most: int = 1) -> list[OutboxDispatch]:
    """The dispatches of claims of one queue, each with nearly a whole lease from now on.

    Leaves out those whose lease is lost. If there are fewer than `at_most`, others of the queue that are due are added.
    """
    begun = []
    # A claim is usually run at once, and needs no second write. Its lease is renewed only if it had to wait.
    fresh_until = timezone.now() + LEASE - timedelta(seconds=30)
    fresh = [claim for claim in claims if claim.lease_until and claim.lease_until > fresh_until]
    # In the order of their ids, and before others are locked: a redaction locks several too.
    for claim in sorted(set(claims).difference(fresh), key=lambda claim: claim.dispatch_id):
        held = _find_held(claim.dispatch_id, claim.lease_until)
        # By the database's clock, like the claim: workers' own clocks may differ.
        if held.update(locked_until=Now() + LEASE):
            begun.append(OutboxDispatch.objects.get(pk=claim.dispatch_id))
    calls = [_BEGIN.call([claim.account_id, claim.dispatch_id, claim.lease_until]) for claim in fresh]
    if len(claims) < at_most:
        queue = claims[0].queue
        about_to_lock("outbox_dispatches", waits=False)
        calls.append(
            _TAKE.call([LEASE.total_seconds(), queue[0], *queue, MAX_TAKEN_BYTES, at_most - len(claims)])
        )
    begun += [dispatch for found in send(*calls) for dispatch in _COLUMNS.read(found.rows)]
    return begun


def release_dispatches(dispatches: Iterable[OutboxDispatch]) -> None:
    """Let go of dispatches that were begun but not run, as they were. Other workers may claim them at once."""
    _run_held({dispatch: (_RELEASE, []) for dispatch in dispatches})


def give_back_dispatch(*, claim: Claim, error: str, now: datetime) -> None:
    """Release a dispatch that couldn't be closed, instead of waiting for the end of its lease.

    The run counts as an attempt. Nothing changes if another worker holds the lease by now.
    """
    with connection.cursor() as cursor:
        delay = RETRY_DELAYS[0]
        row = [current_account_id(), claim.dispatch_id, claim.lease_until]
        cursor.execute(_GIVE_BACK, [now, now + delay, make_storable(error), *row])


def store_messages(messages: Mapping[OutboxDispatch, Mapping[str, object]]) -> list[OutboxDispatch]:
    """Store messages before they are handed off, so that every retry sends the same.

    Returns the dispatches whose lease is still held. The others weren't changed.
    """
    return _run_held(
        {dispatch: (_STORE, [orjson.dumps(message).decode()]) for dispatch, message in messages.items()}
    )


def drop_messages(dispatches: Iterable[OutboxDispatch]) -> None:
    """Forget stored messages, which may not be handed off after all."""
    _run_held({dispatch: (_DROP_MESSAGE, []) for dispatch in dispatches})


def close_dispatches(statuses: Mapping[OutboxDispatch, Status], *, now: datetime) -> list[OutboxDispatch]:
    """End dispatches that need no further attempt. Returns those whose lease is still held; only they were changed."""
    return _run_held({dispatch: (_CLOSE, [status, now]) for dispatch, status in statuses.items()})


def close_dispatch(*, dispatch: OutboxDispatch, status: Status, now: datetime) -> None:
    """End a dispatch that needs no further attempt. Raises `LeaseLost`."""
    if not close_dispatches({dispatch: status}, now=now):
        raise LeaseLost


def reschedule_dispatch(*, dispatch: OutboxDispatch, error: str, now: datetime) -> Status:
    """Schedule a retry of a failed run, or give up after the last one. Raises `LeaseLost`."""
    if dispatch.attempts >= dispatch.max_attempts:
        return give_up_dispatch(dispatch=dispatch, error=error, now=now)
    # A row may allow more attempts than there are delays: the last one then repeats.
    delay = RETRY_DELAYS[min(dispatch.attempts, len(RETRY_DELAYS) - 1)]
    _update_held(
        dispatch,
        status=Status.PENDING,
        attempts=F("attempts") + 1,
        locked_until=None,
        due_at=now + delay,
        last_error=make_storable(error),
    )
    return Status.PENDING


def postpone_dispatch(*, dispatch: OutboxDispatch, reason: str, until: datetime) -> Status:
    """Leave a dispatch for later, or for another worker. That doesn't count as an attempt. Raises `LeaseLost`."""
    _update_held(
        dispatch,
        status=Status.PENDING,
        locked_until=None,
        due_at=until,
        last_error=make_storable(reason),
    )
    return Status.PENDING


def drop_dispatch(*, dispatch: OutboxDispatch) -> None:
    """Delete a dispatch that the caller enqueued for itself. Raises `LeaseLost`."""
    deleted, _ = _find_held(dispatch.pk, dispatch.locked_until).delete()
    if not deleted:
        raise LeaseLost


def give_up_dispatch(*, dispatch: OutboxDispatch, error: str, now: datetime) -> Status:
    """End a dispatch without success: it is dead until a person retries it. Raises `LeaseLost`."""
    _update_held(
        dispatch, status=Status.DEAD, locked_until=None, finished_at=now, last_error=make_storable(error)
    )
    return Status.DEAD


def _find_held(dispatch_id: int, lease_until: datetime | None) -> QuerySet[OutboxDispatch]:
    return OutboxDispatch.objects.filter(pk=dispatch_id, status=Status.PROCESSING, locked_until=lease_until)


def _run_held(calls: Mapping[OutboxDispatch, tuple[Prepared, Sequence[object]]]) -> list[OutboxDispatch]:
    """Like `_update_held`, by prepared statements in one message, for the changes that nearly every dispatch gets.

    Returns the dispatches whose lease is still held.
    """
    # In one order, as two workers may have run the same dispatches, and each statement locks a row.
    ordered = sorted(calls.items(), key=lambda one: one[0].pk)
    changed = send(
        *(statement.call([*values, *_holding(dispatch)]) for dispatch, (statement, values) in ordered)
    )
    return [dispatch for (dispatch, _), done in zip(ordered, changed, strict=True) if done.row_count]


def _holding(dispatch: OutboxDispatch) -> list[object]:
    return [account_of(dispatch), dispatch.pk, dispatch.locked_until]


def _update_held(dispatch: OutboxDispatch, **values: object) -> None:
    """Change a dispatch unless another worker holds its lease by now. Raises `LeaseLost`."""
    if not _find_held(dispatch.pk, dispatch.locked_until).update(**values):
        raise LeaseLost
