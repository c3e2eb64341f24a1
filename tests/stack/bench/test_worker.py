"""Waiting for a running stack's worker, and pausing its process group."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from config.stack.bench.shop import Shop
from config.stack.bench.worker import Worker, paused_group
from config.stack.data import DataDirectory
from config.stack.processes import PROJECT_DIR, Process
from config.stack.running import RunningStack
from config.stack.waiting import until_deadline
from config.versions import CURRENT_VERSION

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the state of processes from /proc")

PAUSES = """
import sys, time
from config.stack.bench.worker import paused_group
with paused_group(int(sys.argv[1])):
    print("paused", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def group(place: Path, started) -> int:
    """A process group of two: a shell, and a child of it that sleeps."""
    process = started(
        Process(
            name="pair", command=["sh", "-c", "sleep 60; true"], log=place / "log", pid_file=place / "pid"
        )
    )
    leader = int((place / "pid").read_text().split()[0])
    _wait_for(lambda: len(_states_of(leader)) == 2)
    assert process.exit_status() is None
    return leader


def test_group_is_paused_and_goes_on(group: int):
    with paused_group(group):
        _wait_for(lambda: _states_of(group) == ["T", "T"])

    _wait_for(lambda: _states_of(group) == ["S", "S"])


def test_group_goes_on_after_an_error(group: int):
    with pytest.raises(KeyboardInterrupt), paused_group(group):
        raise KeyboardInterrupt

    _wait_for(lambda: _states_of(group) == ["S", "S"])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_group_goes_on_when_the_bench_is_killed(group: int, number: signal.Signals):
    with subprocess.Popen(
        [sys.executable, "-c", PAUSES, str(group)], cwd=PROJECT_DIR, stdout=subprocess.PIPE
    ) as bench:
        assert bench.stdout.readline() == b"paused\n"
        _wait_for(lambda: _states_of(group) == ["T", "T"])

        bench.send_signal(number)
        bench.wait()

    _wait_for(lambda: _states_of(group) == ["S", "S"])


def test_worker_is_idle_when_no_shop_owes_anything(data: DataDirectory, httpserver: HTTPServer):
    asked: list[str] = []
    waiting = {"a?pending": 2, "b?processing": 1}

    def answer(request):
        account = request.path.split("/")[3]
        name = f"{account}?{request.args['status']}"
        asked.append(name)
        waiting[name] = waiting.get(name, 0) - 1
        return Response(json.dumps({"outbox_dispatches": [{}] if waiting[name] >= 0 else []}))

    for handle in "ab":
        path = f"/admin/{CURRENT_VERSION}/{handle}/outbox_dispatches.json"
        httpserver.expect_request(path).respond_with_handler(answer)
    stack = RunningStack(data=data, demo={"base_url": httpserver.url_for("").rstrip("/")})

    Worker(stack, [_shop(handle) for handle in "ab"]).wait_until_idle()

    assert asked == ["a?pending"] * 3 + ["a?processing", "b?pending"] + ["b?processing"] * 2


def _shop(handle: str) -> Shop:
    return Shop(
        handle=handle,
        admin_key="key",
        storefront_key="",
        market_id=1,
        variant_ids=[],
        method_id=1,
        rate_id=1,
        discount_code="",
    )


def _states_of(group: int) -> list[str]:
    """The states of the processes of a group: S sleeps, T is stopped."""
    states = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state, _, found = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(found) == group:
            states.append(state)
    return states


def _wait_for(condition) -> None:
    for _ in until_deadline(20):
        if condition():
            return
    raise AssertionError("It didn't happen in time.")
