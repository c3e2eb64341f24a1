"""Sweepers: any number of workers may run each at once."""

import logging
import time
from typing import Any

from celery import shared_task
from django.utils import timezone

from discounts.vouchers.sweeping import BATCH, expire_overdue_vouchers

logger = logging.getLogger(__name__)


# What is left after so long is for the next run.
_LONGEST_S = 30


@shared_task
def sweep_vouchers(**kwargs: Any) -> None:
    """Expire gift cards until less than a whole batch is overdue: many end at the same midnight."""
    deadline = time.monotonic() + _LONGEST_S
    expired = count = expire_overdue_vouchers(now=timezone.now())
    while count == BATCH and time.monotonic() < deadline:
        count = expire_overdue_vouchers(now=timezone.now())
        expired += count
    if expired:
        logger.info("%s gift cards have expired", expired)
