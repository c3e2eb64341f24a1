import logging
from datetime import timedelta
from typing import Any

from celery import shared_task
from django.conf import settings
from kombu.exceptions import OperationalError

from commerce.outbox.operations import prune_dispatches
from commerce.outbox.worker import run_due

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
    for _ in range(PRUNE_BATCHES):
        if prune_dispatches(max_age=max_age, batch=PRUNE_BATCH) < PRUNE_BATCH:
            break


def wake_worker() -> None:
    """Have a worker look at the outbox now. Without the broker, the next poll does."""
    try:
        # A wake-up that waited for longer than a poll takes would only repeat it.
        drain.apply_async(retry=False, expires=settings.OUTBOX_POLL_INTERVAL_S)
    except OperationalError as error:
        logger.warning("The broker can't be reached to wake a worker: %s", error)
