from datetime import timedelta

from celery import shared_task
from django.conf import settings

from commerce.loops.operations import prune_in_batches

from .operations import prune_deliveries

# Small batches keep each deletion short, and few of them end before the next run begins.
PRUNE_BATCH = 5_000
PRUNE_BATCHES = 20


@shared_task
def prune(**kwargs: object) -> None:
    """Delete deliveries that are older than the retention period."""
    max_age = timedelta(days=settings.WEBHOOKS_KEEP_DAYS)
    prune_in_batches(
        "webhook_prune",
        lambda batch, passed_over: prune_deliveries(max_age=max_age, batch=batch, passed_over=passed_over),
        batch=PRUNE_BATCH,
        batches=PRUNE_BATCHES,
    )
