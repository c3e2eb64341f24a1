from celery import shared_task
from django.db import connection

from .operations import prune_in_batches


@shared_task
def prune(**kwargs: object) -> None:
    """Forget postponed rows that have not failed again for a week."""
    prune_in_batches("postponed_prune", _prune_batch, batch=5_000, batches=20)


def _prune_batch(batch: int, passed_over: int) -> tuple[int, list[int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT deleted, failed FROM prune_postponed_rows(interval '7 days', %s::integer, %s::integer)",
            [batch, passed_over],
        )
        return cursor.fetchone()
