"""Housekeeping: any number of workers may run it at once."""

from typing import Any

from celery import shared_task
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

# Few enough that a deletion is short; what is left after so many batches is taken by the next run.
BATCH = 5_000
BATCHES = 100


@shared_task
def clear_sessions(**kwargs: Any) -> None:
    """Forget sessions of the back office that have expired."""
    for _ in range(BATCHES):
        if _clear_batch() < BATCH:
            break


@transaction.atomic
def _clear_batch() -> int:
    expired = Session.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
    keys = list(expired.select_for_update(skip_locked=True).values_list("pk", flat=True)[:BATCH])
    deleted, _ = Session.objects.filter(pk__in=keys).delete()
    return deleted
