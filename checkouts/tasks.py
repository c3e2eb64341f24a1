"""The sweeper. Any number of workers may run it concurrently."""

import logging
import time

from celery import shared_task
from django.utils import timezone

from checkouts.sweeping import BATCH, sweep_overdue_checkouts

logger = logging.getLogger(__name__)

# Seconds after which the rest is left to the next run.
_LONGEST_S = 10


@shared_task
def sweep(**kwargs: object) -> None:
    """End overdue checkouts until less than a full batch is left."""
    deadline = time.monotonic() + _LONGEST_S
    swept = count = sweep_overdue_checkouts(now=timezone.now())
    # A full batch means that there may be more.
    while count == BATCH and time.monotonic() < deadline:
        count = sweep_overdue_checkouts(now=timezone.now())
        swept += count
    if swept:
        logger.info("Swept %s overdue checkouts", swept)
