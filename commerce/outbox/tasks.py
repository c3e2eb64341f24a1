import logging
from typing import Any

from celery import shared_task
from django.conf import settings
from kombu.exceptions import OperationalError

from commerce.outbox.worker import run_due

logger = logging.getLogger(__name__)


@shared_task
def drain(**kwargs: Any) -> None:
    """Run what is due. A long queue is run in turns, so that a worker can stop in between."""
    if not run_due():
        wake_worker()


def wake_worker() -> None:
    """Have a worker look at the outbox now. Without the broker, the next poll does."""
    try:
        # A wake-up that waited for longer than a poll takes would only repeat it.
        drain.apply_async(retry=False, expires=settings.OUTBOX_POLL_INTERVAL_S)
    except OperationalError as error:
        logger.warning("The broker can't be reached to wake a worker: %s", error)
