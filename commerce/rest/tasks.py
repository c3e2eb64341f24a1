from typing import Any

from celery import shared_task
from django.db import connection

# Few enough records of each table that a deletion is short; what is left after so many is taken by the next run.
BATCH = 5_000
BATCHES = 100


@shared_task
def prune(**kwargs: Any) -> None:
    """Forget stored answers of every account that are older than a day: they are replayed no longer."""
    for _ in range(BATCHES):
        if _prune_batch() < BATCH:
            break


def _prune_batch() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT prune_idempotency_records(interval '1 day', %s::integer)", [BATCH])
        return cursor.fetchone()[0]
