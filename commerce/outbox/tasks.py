import logging
import time
from datetime import timedelta

from celery import shared_task
from celery.signals import worker_process_shutdown
from django.conf import settings
from kombu.exceptions import OperationalError

from commerce.loops.operations import prune_in_batches
from commerce.outbox.operations import prune_dispatches
from commerce.outbox.queries import find_next_wait
from commerce.outbox.worker import finish_running, run_due

logger = logging.getLogger(__name__)

# What becomes due within this time is claimed together, so an email may wait for it.
PAUSE_S = 0.1
# A look that comes too early would be in vain.
SLACK_S = 0.02
# What has become due after the last claim, but before the question what is due next.
JUST_DUE = timedelta(seconds=0.5)
# Small batches keep each deletion short, and few of them end before the next run begins.
PRUNE_BATCH = 5_000
PRUNE_BATCHES = 20


@shared_task
def drain(**kwargs: object) -> None:
    """Run due dispatches. A long queue takes several runs, so that a worker can stop in between."""
    if not run_due(pause_s=PAUSE_S):
        # Through the broker, so that tasks that wait there, such as sweeps, get their turn first.
        wake_worker()
    else:
        _wake_when_due()


@shared_task
def prune(**kwargs: object) -> None:
    """Delete dispatches that ended longer ago than the retention time."""
    max_age = timedelta(days=settings.OUTBOX_KEEP_DAYS)
    prune_in_batches(
        "outbox_prune",
        lambda batch, passed_over: prune_dispatches(max_age=max_age, batch=batch, passed_over=passed_over),
        batch=PRUNE_BATCH,
        batches=PRUNE_BATCHES,
    )


@worker_process_shutdown.connect
def _finish_running(**kwargs: object) -> None:
    """Before a process ends, wait for what its threads are sending."""
    finish_running()


def _wake_when_due() -> None:
    """Have a worker look when the next waiting dispatch is due. What is due after the next poll is found by a poll."""
    wait = find_next_wait(since=JUST_DUE)
    if wait is None or (wait_s := wait.total_seconds() + SLACK_S) > settings.OUTBOX_POLL_INTERVAL_S:
        return
    if _planned.is_needed_in(wait_s):
        wake_worker(in_s=wait_s)


class _PlannedLook:
    """When a worker will look for work that isn't due yet, as far as this process knows."""

    def __init__(self) -> None:
        self._at = 0.0

    def is_needed_in(self, wait_s: float) -> bool:
        """Whether no look is planned before. If so, one is from now on."""
        now = time.monotonic()
        if now < self._at <= now + wait_s:
            return False
        self._at = now + wait_s
        return True


_planned = _PlannedLook()


def wake_worker(*, in_s: float = 0) -> None:
    """Have a worker look at the outbox, now or in some seconds. Without the broker, the next poll does."""
    try:
        # No retries, since this also runs in the listener's thread, which has to go on. After the poll interval, the
        # poll has done the work, so the message expires.
        drain.apply_async(countdown=in_s, retry=False, expires=in_s + settings.OUTBOX_POLL_INTERVAL_S)
    except OperationalError as error:
        logger.warning("The broker can't be reached to wake a worker: %s", error)
