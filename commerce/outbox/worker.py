"""Runs due dispatches. No transaction is open while a handler talks to the outside world."""

import logging
import os
import threading
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from commerce.metrics import count_loop_failure, count_run
from commerce.outbox.claims import Claim
from commerce.outbox.crew import Crew
from commerce.outbox.errors import LeaseLost, PermanentFailure, Postponed, UnknownTask
from commerce.outbox.handlers import find_handler
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import (
    HANDOVER_DELAY,
    begin_dispatch,
    close_dispatch,
    give_up_dispatch,
    postpone_dispatch,
    release_dispatch,
    reschedule_dispatch,
)
from commerce.outside.lookups import lookups_for
from commerce.rest.logs import log_as
from commerce.tenancy.scope import account_scope
from commerce.tracing import span

logger = logging.getLogger(__name__)

_crews = threading.local()


def run_due(*, within: timedelta = timedelta(seconds=15)) -> bool:
    """Run due dispatches of every account until none is left; False if time ran out first."""
    return _get_own_crew().run_due(within=within)


def finish_running() -> None:
    """Wait for running dispatches before this process ends."""
    _get_own_crew().finish()
    # Its pool takes no more work, so a later call needs another crew.
    _crews.key = None


def _get_own_crew() -> Crew:
    """This process's crew. It is kept because its threads hold sessions with providers."""
    # Celery forks its worker processes, and threads don't survive a fork.
    key = (os.getpid(), settings.OUTBOX_THREADS)
    if getattr(_crews, "key", None) != key:
        _crews.key, _crews.crew = key, Crew(settings.OUTBOX_THREADS, run_dispatch)
    return _crews.crew


def run_dispatch(claim: Claim) -> bool:
    """Run one claimed dispatch and close it; True if it was postponed. Its errors don't affect other dispatches."""
    if claim.lease_until is None:
        logger.error("%s: dead, as its worker was lost on the last attempt", claim)
        count_run(task_name=claim.task_name, outcome="dead")
        return False
    lease_until = claim.lease_until
    try:
        with account_scope(claim.account_id):
            dispatch = begin_dispatch(claim=claim)
        ids = {"account_id": claim.account_id, "dispatch_id": claim.dispatch_id, "task": claim.task_name}
        with (
            log_as(dispatch.request_id, **ids),
            span(f"dispatch {claim.task_name}", request_id=dispatch.request_id, **ids),
        ):
            # The lease may have been renewed, and only its current end proves that it is ours.
            lease_until = dispatch.locked_until or lease_until
            return _run(claim, dispatch)
    except LeaseLost:
        logger.warning("%s: another worker has taken it over", claim)
    except BaseException as error:
        # Also when the process is interrupted, as the dispatch would otherwise wait until its lease ends.
        _release(claim, lease_until, error)
        if not isinstance(error, Exception):
            raise
    return False


def _run(claim: Claim, dispatch: OutboxDispatch) -> bool:
    try:
        with lookups_for(claim.account_id):
            outcome = find_handler(dispatch)(dispatch)
        with account_scope(claim.account_id):
            # Closing comes first, as it locks the row and checks the lease. So the result is stored once.
            close_dispatch(dispatch=dispatch, status=outcome.status, now=timezone.now())
            outcome.record()
    except LeaseLost:
        count_run(task_name=dispatch.task_name, outcome="lost")
        raise
    except UnknownTask as error:
        # During a deployment, workers of both releases claim work, and the newer ones know this task.
        until = timezone.now() + HANDOVER_DELAY
        _postpone(claim, dispatch, f"{type(error).__name__}: {error}", until=until)
        logger.warning("%s: left to a newer worker. %s", claim, error)
    except Postponed as error:
        _postpone(claim, dispatch, str(error), until=error.until)
        return True
    except Exception as error:  # noqa: BLE001  one dispatch's failure must not stop the others
        _fail(claim, dispatch, error)
    else:
        count_run(task_name=dispatch.task_name, outcome=outcome.status)
    return False


def _postpone(claim: Claim, dispatch: OutboxDispatch, reason: str, *, until: datetime) -> None:
    with account_scope(claim.account_id):
        postpone_dispatch(dispatch=dispatch, reason=reason, until=until)
    count_run(task_name=dispatch.task_name, outcome="postponed")


def _fail(claim: Claim, dispatch: OutboxDispatch, error: Exception) -> None:
    end = give_up_dispatch if isinstance(error, PermanentFailure) else reschedule_dispatch
    # A scope of its own: an error while closing has rolled back the scope that it was raised in.
    with account_scope(claim.account_id):
        status = end(dispatch=dispatch, error=f"{type(error).__name__}: {error}", now=timezone.now())
    is_dead = status == OutboxDispatch.Status.DEAD
    count_run(task_name=dispatch.task_name, outcome="dead" if is_dead else "retried")
    level = logging.ERROR if is_dead else logging.WARNING
    logger.log(level, "%s: failed, now %s", claim, status, exc_info=error)


def _release(claim: Claim, lease_until: datetime, error: BaseException) -> None:
    """Release a dispatch that could not be closed. If that fails too, its lease will run out."""
    count_loop_failure("outbox")
    logger.error("%s: could not be closed", claim, exc_info=error)
    try:
        with account_scope(claim.account_id):
            reason = f"It could not be closed: {type(error).__name__}"
            release_dispatch(claim=claim, lease_until=lease_until, error=reason, now=timezone.now())
    except Exception:  # the other dispatches go on, whatever the error
        logger.exception("%s: waits for the end of its lease", claim)
