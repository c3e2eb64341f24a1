import logging
from datetime import timedelta

from celery import shared_task
from celery.signals import worker_process_shutdown
from django.conf import settings
from django.utils import timezone
from kombu.exceptions import OperationalError

from commerce.loops.operations import prune_in_batches
from commerce.outbox.operations import prune_dispatches
from commerce.outbox.worker import finish_running, run_due, take_due_at

logger = logging.getLogger(__name__)

# What becomes due within this time is claimed together, so an email may wait for it.
PAUSE_S = 0.1
# Small batches keep each deletion short, and few of them end before the next run begins.
PRUNE_BATCH = 5_000
PRUNE_BATCHES = 20


@shared_task
def drain(**kwargs: object) -> None:
    """Run due dispatches. A long queue takes several runs, so that a worker can stop in between."""
    if not run_due(pause_s=PAUSE_S):
        # Through the broker, so that tasks that wait there, such as sweeps, get their turn first.
        wake_worker()
    elif due_at := take_due_at():
        wait_s = (due_at - timezone.now()).total_seconds()
        # What is due later is found by a poll.
        if wait_s < settings.OUTBOX_POLL_INTERVAL_S:
            wake_worker(in_s=max(0, wait_s))


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


def wake_worker(*, in_s: float = 0) -> None:
    """Have a worker look at the outbox, now or in some seconds. Without the broker, the next poll does."""
    try:
        # No retries, since this also runs in the listener's thread, which has to go on. After the poll interval, the
        # poll has done the work, so the message expires.
        drain.apply_async(countdown=in_s, retry=False, expires=in_s + settings.OUTBOX_POLL_INTERVAL_S)
    except OperationalError as error:
        logger.warning("The broker can't be reached to wake a worker: %s", error)
