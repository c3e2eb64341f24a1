"""A Celery worker as it runs in production, without beat: nothing polls, it acts on announcements alone."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings


@contextmanager
def running_worker(logs: Path, **environment: str) -> Iterator[None]:
    """Run a worker with these settings. It must end with success when told to."""
    command = [
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
    ]
    with (logs / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **environment},
            stdout=log,
            stderr=log,
            cwd=settings.BASE_DIR,
        )
        try:
            yield
        finally:
            process.terminate()
            status = process.wait(timeout=90)
    assert status == 0


def wait_for(condition: Callable[[], object], timeout_s: float = 90) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "It did not happen in time."
        time.sleep(0.05)
