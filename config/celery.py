import os
from functools import cached_property
from typing import Any

from celery import Celery, Task
from celery.fixups import django
from celery.signals import task_success
from django.db import connections

from commerce.tracing import span
from config.periodic import note_success

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class PoolKeepingFixup(django.DjangoWorkerFixup):  # type: ignore[name-defined]  # missing in Celery's stubs
    """Returns the task's own connection before and after each task, and keeps the pool open.

    Celery's own fixup also closes the pool. But the outbox's threads outlive the task that started them, and go on
    taking connections from it.
    """

    def close_database(self, **kwargs: Any) -> None:
        for connection in connections.all(initialized_only=True):
            connection.close()


class Fixup(django.DjangoFixup):
    @cached_property
    def worker_fixup(self) -> PoolKeepingFixup:
        # Made when it is first used, because it reads the app's configuration.
        return PoolKeepingFixup(self.app)


def install_fixup(app: Celery) -> Fixup:
    """Celery's hook: called when the app is made."""
    fixup = Fixup(app)
    fixup.install()
    return fixup


class TracedTask(Task):
    """Records each run as a span."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with span(f"task {self.name}"):
            return super().__call__(*args, **kwargs)


app = Celery("commerce", fixups=["config.celery:install_fixup"], task_cls=TracedTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Drains the outbox as soon as it announces work, rather than at the next poll.
app.steps["worker"].add("commerce.outbox.listener:ListenerStep")
task_success.connect(note_success)
