"""A web server whose threads are all taken."""

import select
from contextlib import ExitStack

import pytest

from config.stack.waiting import until_deadline
from tests.front.served import PLACES, THREADS
from tests.front.wire import Wire, ask


def test_full_server_answers_healthz_and_refuses_what_it_has_no_place_for(showing, gate):
    gate.touch()
    try:
        with ExitStack() as stack:
            waiting = [stack.enter_context(Wire(showing)) for _ in range(THREADS + PLACES + 1)]
            for wire in waiting[:THREADS]:
                wire.send("GET /wait")
            _wait_until_begun(gate, THREADS)
            for wire in waiting[THREADS:]:
                wire.send("GET /wait")
            # One of them finds no place; the others say nothing.
            (refused,), _, _ = select.select(waiting, [], [], 30)
            waiting.remove(refused)

            assert ask(showing, "GET /healthz").json() == {"status": "ok"}
            assert ask(showing, "HEAD /healthz").status == 200
            for answer in (refused.answer(), ask(showing, "POST /wait", body=b"{}")):
                assert answer.status == 503
                assert answer.json()["code"] == "server_busy"
                assert answer.json()["request_id"] == answer.headers["x-request-id"]
                assert answer.headers["retry-after"] == "1"
                assert not answer.announces_close

            gate.unlink()
            assert [wire.answer().status for wire in waiting] == [200] * len(waiting)
    finally:
        gate.unlink(missing_ok=True)


def _wait_until_begun(gate, number):
    begun = gate.with_name("begun")
    for _ in until_deadline(30):
        if begun.exists() and len(begun.read_text()) == number:
            return
    pytest.fail("The threads have not begun.")
