from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, Min, QuerySet
from django.db.models.fields.json import KT

from commerce.outbox.models import KeySpace, OutboxDispatch
from commerce.queries import get_or_not_found

# The most dispatches of a status that are counted: looking at a long queue must not slow it down further.
COUNTED_AT_MOST = 100_000


@dataclass(frozen=True, slots=True)
class Backlog:
    """Unfinished and failed dispatches of every account, and since when the oldest has been due."""

    pending: int
    processing: int
    dead: int
    oldest_due_at: datetime | None


def count_backlog() -> Backlog:
    """Count the dispatches of every account, up to `COUNTED_AT_MOST` of a status. Call it outside of any scope."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pending, processing, dead, oldest_due_at FROM outbox_backlog(%s::integer)",
            [COUNTED_AT_MOST],
        )
        return Backlog(*cursor.fetchone())


def find_next_wait(*, since: timedelta) -> timedelta | None:
    """How long until the next waiting dispatch of any account is due, by the database's clock.

    Zero if one has become due in the time `since`, and still waits. Call it outside of any scope.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT outbox_next_due(make_interval(secs => %s))", [since.total_seconds()])
        (wait,) = cursor.fetchone()
        return wait


def dispatches(
    *, status: str | None = None, task_name: str | None = None, tasks: list[str] | None = None
) -> QuerySet[OutboxDispatch]:
    """Dispatches of the account in scope for these `tasks`, without their rendered messages."""
    # Rendered messages are large, and only the worker that sends them needs them.
    found = OutboxDispatch.objects.defer("message")
    if status is not None:
        found = found.filter(status=status)
    if task_name is not None:
        found = found.filter(target__task_name=task_name)
    if tasks is not None:
        found = found.filter(target__task_name__in=tasks)
    return found


def get_dispatch(dispatch_id: int) -> OutboxDispatch:
    """A dispatch of the account in scope; raises `NotFound`."""
    return get_or_not_found(dispatches(), pk=dispatch_id)


def find_dispatch(idempotency_key: str, *, key_space: str = KeySpace.PRODUCT) -> OutboxDispatch | None:
    """The dispatch of the account in scope that was enqueued under this key."""
    return dispatches().filter(key_space=key_space, idempotency_key=idempotency_key).first()


def count_by_task() -> list[dict[str, Any]]:
    """How many dispatches of the account in scope each `task` and `status` has, and when the oldest was due."""
    by_task = OutboxDispatch.objects.annotate(task=KT("target__task_name")).values("task", "status")
    counted = by_task.annotate(dispatches=Count("pk"), oldest_due_at=Min("due_at"))
    return [dict(row) for row in counted.order_by("task", "status")]


def list_ended_since(since: datetime) -> QuerySet[OutboxDispatch]:
    """The dispatches of the account in scope that ended after this time, oldest first."""
    return dispatches().filter(finished_at__gt=since).order_by("finished_at")
