import os
import subprocess
import sys
import time

import pytest
from django.conf import settings

from commerce.outbox.models import OutboxDispatch
from config.celery import app
from tests.factories import make_dispatch


@pytest.fixture
def worker(tmp_path):
    """A Celery worker as it runs in production, without beat: it acts on announcements alone."""
    with (tmp_path / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "celery",
                "-A",
                "config",
                "worker",
                "--concurrency",
                "1",
                "--loglevel",
                "info",
            ],
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
            stdout=log,
            stderr=log,
            cwd=settings.BASE_DIR,
        )
        yield process
        process.terminate()
        assert process.wait(timeout=90) == 0


def wait_for(condition, timeout_s=90):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "It did not happen in time."
        time.sleep(0.05)


def test_poll_is_scheduled():
    assert app.conf.beat_schedule["drain-outbox"] == {
        "task": "commerce.outbox.tasks.drain",
        "schedule": 5.0,
        "options": {"expires": 5.0},
    }


@pytest.mark.django_db(transaction=True)
def test_worker_runs_a_dispatch_when_it_is_committed_and_stops_when_told(shop, worker):
    def last_error(dispatch):
        with shop.scope():
            return OutboxDispatch.objects.get(pk=dispatch.pk).last_error

    # The first exists before the worker listens, the second comes afterwards.
    for task_name in ("before", "while listening"):
        dispatch = make_dispatch(shop, task_name=task_name)
        wait_for(lambda dispatch=dispatch: last_error(dispatch))
        assert last_error(dispatch) == f"UnknownTask: No handler for '{task_name}' version 1."
