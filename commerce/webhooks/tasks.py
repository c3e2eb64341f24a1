from datetime import timedelta
from typing import Any

from celery import shared_task
from django.conf import settings

from .operations import prune_deliveries

# Few enough rows that a deletion is short, and few enough batches that a run ends before the next one.
PRUNE_BATCH = 5_000
PRUNE_BATCHES = 20


@shared_task
def prune(**kwargs: Any) -> None:
    """Forget deliveries that are older than they are kept."""
    max_age = timedelta(days=settings.WEBHOOKS_KEEP_DAYS)
    for _ in range(PRUNE_BATCHES):
        if prune_deliveries(max_age=max_age, batch=PRUNE_BATCH) < PRUNE_BATCH:
            break
