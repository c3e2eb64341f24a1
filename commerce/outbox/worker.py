"""Running what is due. No transaction is open while a handler talks to the outside world."""

import logging
import os
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import lru_cache
from threading import Lock

from django.conf import settings
from django.db import connection
from django.utils import timezone

from commerce.metrics import count_run
from commerce.outbox.errors import LeaseLost, PermanentFailure, Postponed, UnknownTask
from commerce.outbox.handlers import Outcome, handler_of
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import (
    BATCH,
    HANDOVER_DELAY,
    Claim,
    begin_dispatch,
    bury_dispatch,
    claim_dispatches,
    close_dispatch,
    postpone_dispatch,
    reschedule_dispatch,
)
from commerce.tenancy.scope import account_scope

logger = logging.getLogger(__name__)


def run_due(*, within: timedelta = timedelta(minutes=1)) -> bool:
    """Run due dispatches of every account until none is left; False when there was more than time."""
    queue = _Queue(deadline=time.monotonic() + within.total_seconds())
    queue.fill()
    # After a full batch there is more to do, most of which is waiting for others' answers.
    number = settings.OUTBOX_THREADS - 1 if len(queue.claims) == BATCH else 0
    helping = [_helpers(os.getpid()).submit(_help, queue) for _ in range(number)]
    _run_all(queue)
    for helper in helping:
        helper.result()
    return not queue.is_cut_short


class _Queue:
    """Claims for all threads of a process: should it be killed, no more wait for the end of their leases."""

    def __init__(self, *, deadline: float) -> None:
        self.claims: deque[Claim] = deque()
        self.is_cut_short = False
        self._deadline = deadline
        self._lock = Lock()

    def fill(self) -> None:
        self.claims.extend(claim_dispatches())

    def next(self) -> Claim | None:
        """None when nothing is due, or too late to begin with more."""
        with self._lock:
            if not self.claims and time.monotonic() > self._deadline:
                self.is_cut_short = True
            elif not self.claims:
                self.fill()
            return self.claims.popleft() if self.claims else None


def _run_all(queue: _Queue) -> None:
    while claim := queue.next():
        run_dispatch(claim)


def _help(queue: _Queue) -> None:
    try:
        _run_all(queue)
    finally:
        connection.close()


@lru_cache(maxsize=1)
def _helpers(_process_id: int) -> ThreadPoolExecutor:
    """Of each process its own, kept for the sessions that its threads hold with providers."""
    return ThreadPoolExecutor(max(1, settings.OUTBOX_THREADS - 1), thread_name_prefix="outbox")


def run_dispatch(claim: Claim) -> None:
    """Run one claimed dispatch and close it; whatever goes wrong with it stays with it."""
    if claim.lease_until is None:
        logger.error("%s: given up, as its worker was lost on the last try", _name(claim))
        return
    try:
        with account_scope(claim.account_id):
            dispatch = begin_dispatch(claim=claim)
        _run(claim, dispatch)
    except LeaseLost:
        logger.warning("%s: another worker has taken it over", _name(claim))


def _run(claim: Claim, dispatch: OutboxDispatch) -> None:
    try:
        outcome = handler_of(dispatch)(dispatch)
        _finish(claim, dispatch, outcome)
    except LeaseLost:
        count_run(task_name=dispatch.task_name, outcome="lost")
        raise
    except UnknownTask as error:
        _leave(claim, dispatch, error)
    except Postponed as error:
        _postpone(claim, dispatch, str(error), until=error.until)
    except Exception as error:  # noqa: BLE001  one dispatch's failure must not stop the others
        _fail(claim, dispatch, error)
    else:
        count_run(task_name=dispatch.task_name, outcome=outcome.status)


def _finish(claim: Claim, dispatch: OutboxDispatch, outcome: Outcome) -> None:
    with account_scope(claim.account_id):
        # First the close, which locks the row and proves the lease; then what is to be written once.
        close_dispatch(dispatch=dispatch, status=outcome.status, now=timezone.now())
        outcome.record()


def _leave(claim: Claim, dispatch: OutboxDispatch, error: UnknownTask) -> None:
    until = timezone.now() + HANDOVER_DELAY
    _postpone(claim, dispatch, f"{type(error).__name__}: {error}", until=until)
    logger.warning("%s: left to a newer worker. %s", _name(claim), error)


def _postpone(claim: Claim, dispatch: OutboxDispatch, reason: str, *, until: datetime) -> None:
    with account_scope(claim.account_id):
        postpone_dispatch(dispatch=dispatch, reason=reason, until=until)
    count_run(task_name=dispatch.task_name, outcome="postponed")


def _fail(claim: Claim, dispatch: OutboxDispatch, error: Exception) -> None:
    end = bury_dispatch if isinstance(error, PermanentFailure) else reschedule_dispatch
    with account_scope(claim.account_id):
        status = end(dispatch=dispatch, error=f"{type(error).__name__}: {error}", now=timezone.now())
    is_dead = status == OutboxDispatch.Status.DEAD
    count_run(task_name=dispatch.task_name, outcome="dead" if is_dead else "retried")
    level = logging.ERROR if is_dead else logging.WARNING
    logger.log(level, "%s: failed, now %s", _name(claim), status, exc_info=error)


def _name(claim: Claim) -> str:
    return f"Dispatch {claim.dispatch_id} of account {claim.account_id}"
