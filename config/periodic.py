"""Records when each periodic task last succeeded, and tells which are late.

This is how a missing scheduler or worker is noticed: a process that is gone reports no errors.
"""

import logging
import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import redis
from django.conf import settings

from commerce.redis import client

logger = logging.getLogger(__name__)

# A Redis hash of task names and the Unix times of their last success.
SUCCESSES = "periodic-tasks"

# A few runs may fail or take long before a task counts as late.
_MISSED_RUNS = 3
_GRACE_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodicTask:
    """An entry of the schedule. Before its first success, lateness counts from the first look at it."""

    name: str
    interval_s: float
    succeeded_at: float

    def is_late(self, *, now: float) -> bool:
        return now - self.succeeded_at > _MISSED_RUNS * self.interval_s + _GRACE_S


def note_success(*, sender: Any, **_: object) -> None:
    """Handle Celery's `task_success` signal."""
    # Only what is scheduled can be late.
    if sender.name not in _list_scheduled_tasks():
        return
    # The task has succeeded, and must not fail because that can't be recorded.
    try:
        client().hset(SUCCESSES, sender.name, str(time.time()))
    except redis.RedisError as error:
        logger.warning("Couldn't record the success of %s: %s", sender.name, error)


def load_periodic_tasks() -> list[PeriodicTask]:
    """Load the schedule with the times of the last successes. Raises `RedisError`."""
    now = time.time()
    pipeline = client().pipeline(transaction=False)
    # A task that has never run needs a time to be late from, shared by all processes.
    for task in _list_scheduled_tasks():
        pipeline.hsetnx(SUCCESSES, task, str(now))
    pipeline.hgetall(SUCCESSES)
    times = {name.decode(): float(at) for name, at in pipeline.execute()[-1].items()}
    return [
        PeriodicTask(
            name=name, interval_s=float(entry["schedule"]), succeeded_at=times.get(entry["task"], now)
        )
        for name, entry in settings.CELERY_BEAT_SCHEDULE.items()
    ]


def find_late_tasks() -> list[str]:
    """The names of the entries that are late. Raises `RedisError`."""
    now = time.time()
    return [task.name for task in load_periodic_tasks() if task.is_late(now=now)]


@cache
def _list_scheduled_tasks() -> frozenset[str]:
    """The names of the tasks in the schedule."""
    return frozenset(entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values())
