from functools import partial

from celery import shared_task
from django.db import connection

from commerce.loops.operations import continue_after_failure, prune_in_batches

# Small batches keep each deletion short; the next run takes what is left.
BATCH = 5_000
BATCHES = 100
_FUNCTIONS = ("prune_account_answers", "prune_workspace_answers")


@shared_task
def prune(**kwargs: object) -> None:
    """Delete stored answers of every account that are older than a day and no longer replayed."""
    for function in _FUNCTIONS:
        with continue_after_failure("answers_prune", function=function):
            prune_in_batches("answers_prune", partial(_prune, function), batch=BATCH, batches=BATCHES)


def _prune(function: str, batch: int, passed_over: int) -> tuple[int, list[int]]:
    with connection.cursor() as cursor:
        # Its name is one of those above.
        sql = f"SELECT deleted, failed FROM {function}(interval '1 day', %s::integer, %s::integer)"  # noqa: S608
        cursor.execute(sql, [batch, passed_over])
        return cursor.fetchone()
