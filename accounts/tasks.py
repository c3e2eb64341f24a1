"""Housekeeping tasks, which any number of workers may run at once."""

from celery import shared_task
from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.models import StaffSession
from commerce.loops.operations import is_server_failure, prune_in_batches

# Small batches keep each deletion short. The next run continues after this many.
BATCH = 5_000
BATCHES = 100


@shared_task
def clear_sessions(**kwargs: object) -> None:
    """Delete expired sessions of the back office."""
    prune_in_batches("sessions_prune", _clear_batch, batch=BATCH, batches=BATCHES)


def _clear_batch(batch: int, passed_over: int) -> tuple[int, list[object]]:
    """Delete a batch. Returns the number of deleted rows, and a masked entry for each that can't be deleted.

    Entries are masked because they are logged, and a session's key is a secret.
    """
    expired = StaffSession.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
    try:
        with transaction.atomic():
            found = expired.select_for_update(skip_locked=True).values_list("pk", flat=True)
            return _delete(list(found[passed_over : passed_over + batch])), []
    except DatabaseError as error:
        if is_server_failure(error):
            raise
    # At least one row can't be deleted, so each is deleted by itself.
    keys = list(expired.values_list("pk", flat=True)[passed_over : passed_over + batch])
    deleted = 0
    for key in keys:
        try:
            with transaction.atomic():
                deleted += _delete([key])
        except DatabaseError as error:
            if is_server_failure(error):
                raise
    return deleted, ["***"] * (len(keys) - deleted)


def _delete(keys: list[str]) -> int:
    deleted, _ = StaffSession.objects.filter(pk__in=keys).delete()
    return deleted
