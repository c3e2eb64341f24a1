"""The sweeper: any number of workers may run it at once."""

import logging
from typing import Any

from celery import shared_task
from django.utils import timezone

from checkouts.sweeping import sweep_overdue_checkouts

logger = logging.getLogger(__name__)


@shared_task
def sweep(**kwargs: Any) -> None:
    swept = sweep_overdue_checkouts(now=timezone.now())
    if swept:
        logger.info("Swept %s overdue checkouts", swept)
