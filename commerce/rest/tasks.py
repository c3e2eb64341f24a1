from typing import Any

from celery import shared_task
from django.db import connection

# Of each table in one run: what is left is taken by the next.
BATCH = 5_000


@shared_task
def prune(**kwargs: Any) -> None:
    """Forget stored answers of every account that are older than a day: they are replayed no longer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT prune_idempotency_records(interval '1 day', %s::integer)", [BATCH])
