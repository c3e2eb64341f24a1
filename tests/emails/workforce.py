"""Processes that drain the outbox like Celery's pool: forked from one that has loaded the product, and replaced when killed.

    python -m tests.emails.workforce 4 log

appends the id of each process that it starts to the file `log`.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import django

IDLE_S = 0.05


class Workforce:
    """The processes, as seen by a test."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def kill_one(self) -> None:
        """Send SIGKILL to one of those alive."""
        for pid in random.sample(self._read_started(), k=len(self._read_started())):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return

    def _read_started(self) -> list[int]:
        return [int(line) for line in self._log.read_text().split()]


@contextmanager
def working(number: int, *, log: Path, environment: dict[str, str]) -> Iterator[Workforce]:
    log.touch()
    command = [sys.executable, "-m", "tests.emails.workforce", str(number), str(log)]
    with (
        log.with_suffix(".err").open("w") as errors,
        subprocess.Popen(
            command, env=os.environ | environment, start_new_session=True, stderr=errors
        ) as foreman,
    ):
        try:
            yield Workforce(log)
        finally:
            os.killpg(foreman.pid, signal.SIGKILL)


def _drain() -> None:
    from commerce.outbox.worker import run_due

    while True:
        run_due()
        time.sleep(IDLE_S)


def _fork(log: Path) -> None:
    pid = os.fork()
    if pid == 0:
        _drain()
    with log.open("a") as lines:
        lines.write(f"{pid}\n")


def main(number: int, log: Path) -> None:
    django.setup()
    for _ in range(number):
        _fork(log)
    while True:
        os.wait()
        _fork(log)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
