import os
import signal
from pathlib import Path

import pytest

from config.stack.errors import Interrupted, StackError
from config.stack.processes import Service
from config.stack.supervisor import Supervisor, Watched
from config.stack.waiting import StopSignals, until_deadline

SLEEPS = "exec sleep 60"
FAILS = "echo no such colour; exit 1"


class Impatient(StopSignals):
    """A supervisor that acts as if a stop signal arrived once the condition holds."""

    def __init__(self, condition) -> None:
        super().__init__()
        self.condition = condition

    def pause(self, seconds: float) -> None:
        if self.condition():
            raise Interrupted
        super().pause(seconds)


def test_killed_service_is_started_again(place: Path):
    pid_file = place / "pid"
    service = _service(SLEEPS, place)
    supervisor = Supervisor(Impatient(lambda: pid_file.exists() and _pid(pid_file) not in {None, first}))
    supervisor.start(service)
    first = _pid(pid_file)
    os.kill(first, signal.SIGKILL)

    with pytest.raises(Interrupted):
        supervisor.watch()

    assert service.exit_status() is None
    service.kill()


def test_service_that_keeps_dying_ends_the_run(place: Path):
    watched = Watched(_service(FAILS, place))
    watched.service.start()

    for death in range(9):
        _die(watched, now=death)
        watched.tend(now=death + 5.0)
    with pytest.raises(StackError, match=r"^shell ended 10 times within a minute\.[^§]*no such colour"):
        _die(watched, now=10)


def test_deaths_of_long_ago_do_not_count(place: Path):
    watched = Watched(_service(FAILS, place))
    watched.service.start()

    for death in range(20):
        _die(watched, now=death * 10)
        watched.tend(now=death * 10 + 5.0)

    assert len(watched.deaths) == 7
    watched.service.kill()


def test_restarts_wait_longer_each_time(place: Path):
    watched = Watched(_service(FAILS, place))
    watched.service.start()
    waits = []

    for _ in range(8):
        _die(watched, now=0)
        waits.append(watched.restart_at)
        watched.tend(now=5.0)

    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5]
    watched.service.kill()


def test_stop_ends_the_last_started_first(place: Path):
    order = place / "order"
    says_so = f"trap 'printf %s $0 >> {order}; exit' TERM; echo on; while :; do sleep 0.01; done"
    supervisor = Supervisor(StopSignals())
    supervisor.start(*(_service(says_so, place, name=name) for name in "abc"))
    for name in "abc":
        _wait_for_log(place / f"{name}.log")

    supervisor.stop()

    assert order.read_text() == "cba"


def _service(script: str, place: Path, *, name: str = "shell") -> Service:
    return Service(
        name=name,
        command=["sh", "-c", script, name],
        log=place / f"{name}.log",
        pid_file=place / ("pid" if name == "shell" else f"{name}.pid"),
        is_ready=lambda: True,
    )


def _die(watched: Watched, *, now: float) -> None:
    watched.service.wait_until_ended(seconds=10)
    watched.tend(now=now)


def _pid(pid_file: Path) -> int | None:
    text = pid_file.read_text()
    return int(text.split()[0]) if text else None


def _wait_for_log(log: Path) -> None:
    for _ in until_deadline(10):
        if log.read_text():
            return
    pytest.fail(f"{log} stays empty.")
