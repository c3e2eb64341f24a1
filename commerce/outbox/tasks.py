import logging
from datetime import timedelta
from typing import Any

from celery import shared_task
from celery.signals import worker_process_shutdown
from django.conf import settings
from kombu.exceptions import OperationalError

from commerce.loops.operations import prune_in_batches
from commerce.outbox.operations import prune_dispatches
from commerce.outbox.worker import finish_running, run_due

logger = logging.getLogger(__name__)

# Few enough rows that a deletion is short, and few enough batches that a run ends before the next one.
PRUNE_BATCH = 5_000
PRUNE_BATCHES = 20


@shared_task
def drain(**kwargs: Any) -> None:
    """Run what is due. A long queue is run in turns, so that a worker can stop in between."""
    if not run_due():
        wake_worker()


@shared_task
def prune(**kwargs: Any) -> None:
    """Forget dispatches that ended longer ago than they are kept."""
    max_age = timedelta(days=settings.OUTBOX_KEEP_DAYS)
    prune_in_batches(
        "outbox_prune",
        lambda batch, passed_over: prune_dispatches(max_age=max_age, batch=batch, passed_over=passed_over),
        batch=PRUNE_BATCH,
        batches=PRUNE_BATCHES,
    )


@worker_process_shutdown.connect
def _finish(**kwargs: Any) -> None:
    """A process that ends waits for what its threads are sending."""
    finish_running()


def wake_worker() -> None:
    """Have a worker look at the outbox now. Without the broker, the next poll does."""
    try:
        # A wake-up that waited for longer than a poll takes would only repeat it.
        drain.apply_async(retry=False, expires=settings.OUTBOX_POLL_INTERVAL_S)
    except OperationalError as error:
        logger.warning("The broker can't be reached to wake a worker: %s", error)
