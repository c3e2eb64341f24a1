"""Runs of claimed dispatches. No transaction is open while a handler talks to the outside world."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from commerce.metrics import count_loop_failure, count_run
from commerce.outbox.claims import Claim
from commerce.outbox.errors import LeaseLost, PermanentFailure, Postponed, UnknownTask
from commerce.outbox.handlers import Batch, Ended, Outcome, find_batch_maker
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import (
    HANDOVER_DELAY,
    begin_dispatches,
    close_dispatches,
    give_back_dispatch,
    give_up_dispatch,
    postpone_dispatch,
    release_dispatches,
    reschedule_dispatch,
)
from commerce.outside.lookups import lookups_for
from commerce.rest.logs import log_as
from commerce.tenancy.scope import account_scope
from commerce.tracing import span

logger = logging.getLogger(__name__)

# The claims of dispatches that are under way, by the dispatches' ids.
_Open = dict[int, Claim]


@dataclass(frozen=True, slots=True)
class Ran:
    """How many dispatches ran, whether none was postponed or left for later, and whether they could run together."""

    number: int
    is_smooth: bool = True
    ran_together: bool = True


def run_claims(claims: Sequence[Claim], *, at_most: int = 1) -> Ran:
    """Run claimed dispatches of one queue and close them. Their errors don't affect other dispatches.

    If there are fewer than `at_most`, others of the queue that are due run with them.
    """
    under_way: _Open = {claim.dispatch_id: claim for claim in claims if claim.lease_until is not None}
    for claim in claims:
        if claim.lease_until is None:
            logger.error("%s: dead, as its worker was lost on the last attempt", claim)
            count_run(task_name=claim.task_name, outcome="dead")
    if not under_way:
        return Ran(0)
    try:
        dispatches = _begin(under_way, at_most)
        if not dispatches:
            return Ran(0)
        with _watch(dispatches):
            return _run(dispatches, under_way)
    except BaseException as error:
        # Also when the process is interrupted, as the dispatches would otherwise wait until their leases end.
        _give_back(under_way.values(), error)
        if not isinstance(error, Exception):
            raise
    return Ran(0, is_smooth=False, ran_together=False)


def _begin(under_way: _Open, at_most: int) -> list[OutboxDispatch]:
    claims = list(under_way.values())
    try:
        with account_scope(claims[0].account_id):
            dispatches = begin_dispatches(claims=claims, at_most=at_most)
    except Exception:  # one of those that weren't claimed can't be changed
        if len(claims) >= at_most:
            raise
        with account_scope(claims[0].account_id):
            dispatches = begin_dispatches(claims=claims)
    begun = {dispatch.pk: Claim.of(dispatch) for dispatch in dispatches}
    for claim in claims:
        if claim.dispatch_id not in begun:
            _log_lost(claim)
    under_way.clear()
    # A lease may have been renewed, and only its current end proves that it is ours.
    under_way.update(begun)
    return dispatches


@contextmanager
def _watch(dispatches: Sequence[OutboxDispatch]) -> Iterator[None]:
    """Record the run as a span, and log what happens in it with its ids."""
    request, ids = _find_ids(dispatches)
    with log_as(request, **ids), span(f"dispatch {ids['task']}", request_id=request, **ids):
        yield


def _find_ids(dispatches: Sequence[OutboxDispatch]) -> tuple[str | None, dict[str, object]]:
    """The id of the request that enqueued a dispatch, and its own ids; of several, what they have in common."""
    first = Claim.of(dispatches[0])
    ids: dict[str, object] = {"account_id": first.account_id, "task": first.task_name}
    if len(dispatches) > 1:
        return None, ids
    return dispatches[0].request_id, ids | {"dispatch_id": first.dispatch_id}


def _run(dispatches: Sequence[OutboxDispatch], under_way: _Open) -> Ran:
    runnable = [dispatch for dispatch in dispatches if _is_known(dispatch, under_way)]
    if not runnable:
        return Ran(0)
    first, is_smooth, ran_together = runnable[0], True, True
    account_id = under_way[first.pk].account_id
    try:
        with lookups_for(account_id):
            batch = find_batch_maker(first)(runnable)
            for group in batch.run():
                is_smooth &= _close(batch, list(group), under_way)
    except Exception as error:
        if len(runnable) > 1:
            # Any of them may be to blame, so each runs by itself.
            count, ran_together = len(runnable), False
            logger.warning("%s and %s others can't run together: %r", under_way[first.pk], count - 1, error)
        elif first.pk in under_way:
            is_smooth = _end_failed(first, error, under_way)
        else:
            logger.exception("Dispatch %s: ended, but its handler went on and failed", first.pk)
    left = [dispatch for dispatch in runnable if dispatch.pk in under_way]
    _release(left, under_way)
    return Ran(len(runnable) - len(left), is_smooth and not left, ran_together)


def _is_known(dispatch: OutboxDispatch, under_way: _Open) -> bool:
    try:
        find_batch_maker(dispatch)
    except UnknownTask as error:
        # During a deployment, workers of both releases claim work, and the newer ones know this task.
        claim, until = under_way[dispatch.pk], timezone.now() + HANDOVER_DELAY
        _postpone(dispatch, f"{type(error).__name__}: {error}", until, under_way)
        logger.warning("%s: left to a newer worker. %s", claim, error)
        return False
    return True


def _close(batch: Batch, group: Sequence[Ended], under_way: _Open) -> bool:
    """Close dispatches that have run, in one transaction if they succeeded. False if any was postponed."""
    done = {dispatch: ended for dispatch, ended in group if isinstance(ended, Outcome)}
    failed = [(dispatch, ended) for dispatch, ended in group if not isinstance(ended, Outcome)]
    is_smooth = True
    try:
        _close_done(batch, done, under_way)
    except Exception as error:  # noqa: BLE001  ends as a failed run
        if len(done) > 1:
            # One of them can't be stored. The others can.
            ends = [_close(batch, [one], under_way) for one in group]
            return all(ends)
        failed += [(dispatch, error) for dispatch in done]
    for dispatch, failure in failed:
        is_smooth &= _end_failed(dispatch, failure, under_way)
    return is_smooth


def _close_done(batch: Batch, done: dict[OutboxDispatch, Outcome], under_way: _Open) -> None:
    if not done:
        return
    statuses = {dispatch: outcome.status for dispatch, outcome in done.items()}
    with account_scope(under_way[next(iter(done)).pk].account_id):
        # Closing comes first, as it locks the rows and checks the leases. So each result is stored once.
        held = close_dispatches(statuses, now=timezone.now())
        batch.record(held)
    for dispatch in done:
        if dispatch in held:
            del under_way[dispatch.pk]
            count_run(task_name=dispatch.task_name, outcome=statuses[dispatch])
        else:
            _note_lost(dispatch, under_way)


def _end_failed(dispatch: OutboxDispatch, error: Exception, under_way: _Open) -> bool:
    """Postpone or reschedule a dispatch, or give it up. False if it was postponed."""
    try:
        if isinstance(error, Postponed):
            _postpone(dispatch, str(error), error.until, under_way)
        elif isinstance(error, LeaseLost):
            _note_lost(dispatch, under_way)
        else:
            _fail(dispatch, error, under_way)
    except LeaseLost:
        _note_lost(dispatch, under_way)
    except Exception as failure:  # noqa: BLE001  the others of its batch go on
        _give_back([under_way.pop(dispatch.pk)], failure)
    return not isinstance(error, Postponed)


def _note_lost(dispatch: OutboxDispatch, under_way: _Open) -> None:
    count_run(task_name=dispatch.task_name, outcome="lost")
    _log_lost(under_way.pop(dispatch.pk))


def _postpone(dispatch: OutboxDispatch, reason: str, until: datetime, under_way: _Open) -> None:
    with account_scope(under_way[dispatch.pk].account_id):
        postpone_dispatch(dispatch=dispatch, reason=reason, until=until)
    del under_way[dispatch.pk]
    count_run(task_name=dispatch.task_name, outcome="postponed")


def _fail(dispatch: OutboxDispatch, error: Exception, under_way: _Open) -> None:
    claim = under_way[dispatch.pk]
    end = give_up_dispatch if isinstance(error, PermanentFailure) else reschedule_dispatch
    # A scope of its own: an error while closing has rolled back the scope that it was raised in.
    with account_scope(claim.account_id):
        status = end(dispatch=dispatch, error=f"{type(error).__name__}: {error}", now=timezone.now())
    del under_way[dispatch.pk]
    is_dead = status == OutboxDispatch.Status.DEAD
    count_run(task_name=dispatch.task_name, outcome="dead" if is_dead else "retried")
    level = logging.ERROR if is_dead else logging.WARNING
    request, ids = _find_ids([dispatch])
    with log_as(request, **ids):
        logger.log(level, "%s: failed, now %s", claim, status, exc_info=error)


def _release(dispatches: Sequence[OutboxDispatch], under_way: _Open) -> None:
    """Let go of dispatches that were left. If one of them can't be changed, it waits for the end of its lease."""
    if not dispatches:
        return
    try:
        with account_scope(under_way[dispatches[0].pk].account_id):
            release_dispatches(dispatches)
    except Exception:
        if len(dispatches) > 1:
            for dispatch in dispatches:
                _release([dispatch], under_way)
            return
        logger.exception("%s: waits for the end of its lease", under_way[dispatches[0].pk])
    for dispatch in dispatches:
        del under_way[dispatch.pk]


def _give_back(claims: Iterable[Claim], error: BaseException) -> None:
    """Release dispatches that could not be closed. If that fails too, their leases will run out."""
    for claim in claims:
        count_loop_failure("outbox")
        logger.error("%s: could not be closed", claim, exc_info=error)
        try:
            with account_scope(claim.account_id):
                reason = f"It could not be closed: {type(error).__name__}"
                give_back_dispatch(claim=claim, error=reason, now=timezone.now())
        except Exception:  # the other dispatches go on, whatever the error
            logger.exception("%s: waits for the end of its lease", claim)


def _log_lost(claim: Claim) -> None:
    logger.warning("%s: another worker has taken it over", claim)
