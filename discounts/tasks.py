"""The sweeper. Any number of workers may run it concurrently."""

import logging

from celery import shared_task
from django.utils import timezone

from discounts.vouchers.sweeping import expire_overdue_vouchers

logger = logging.getLogger(__name__)

# Seconds after which the rest is left to the next run.
_LONGEST_S = 30


@shared_task
def sweep_vouchers(**kwargs: object) -> None:
    """Expire gift cards until none is overdue: many expire at the same midnight."""
    expired = expire_overdue_vouchers(now=timezone.now(), within_s=_LONGEST_S)
    if expired:
        logger.info("%s gift cards have expired", expired)
