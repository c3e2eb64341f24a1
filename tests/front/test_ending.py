"""A web server that is told to stop answers every request that has reached it."""

import os
import select
import signal
from contextlib import ExitStack

import pytest

from config.stack.ports import find_free_port
from config.stack.waiting import until_deadline
from tests.front.conftest import front_of
from tests.front.served import PLACES, THREADS
from tests.front.wire import Wire

LONG_S = 60
# The threads and waiting places that one caller may use.
SHARE, PLACES_OF_ONE = THREADS - 2, (PLACES + 1) // 2


@pytest.fixture
def closed(tmp_path):
    """The closed gate of the server."""
    gate = tmp_path / "gate"
    gate.touch()
    yield gate
    gate.unlink(missing_ok=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_waiting_requests_are_refused_and_running_ones_answered(tmp_path, closed, number):
    port = find_free_port()
    service = front_of(
        "showing",
        port=port,
        log=tmp_path / "log",
        seconds_to_end=LONG_S,
        environment={"FRONT_GATE": str(closed)},
    )
    service.pid_file = tmp_path / "pid"
    service.start()
    try:
        service.wait_until_ready(seconds=90)
        with ExitStack() as stack:
            running, waiting = (
                [stack.enter_context(Wire(port)) for _ in range(count)]
                for count in (SHARE, PLACES_OF_ONE + 1)
            )
            for wire in running:
                wire.send("GET /a?wait")
            wait_until_begun(closed, SHARE)
            for wire in waiting:
                wire.send("GET /a?wait")
            # One of them finds no place; by then the others wait.
            (refused,), _, _ = select.select(waiting, [], [], LONG_S)
            waiting.remove(refused)

            os.kill(int(service.pid_file.read_text().split()[0]), number)

            for answer in [wire.answer() for wire in waiting]:
                assert (answer.status, answer.json()["code"]) == (503, "server_busy")
                assert answer.headers["retry-after"] == "1"
            closed.unlink()
            assert [wire.answer().status for wire in running] == [200] * SHARE
            service.wait_until_ended(seconds=LONG_S)
    finally:
        closed.unlink(missing_ok=True)
        service.stop()


def wait_until_begun(gate, number):
    begun = gate.with_name("begun")
    for _ in until_deadline(30):
        if begun.exists() and len(begun.read_text().splitlines()) == number:
            return
    pytest.fail("The requests have not begun.")
