"""The load generator, against a server with prepared answers."""

from collections.abc import Callable, Iterator
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest

from config.stack.bench.load import Client, Measurement, drive
from config.stack.bench.messages import Request
from config.stack.errors import StackError

WITH_LENGTH = b'HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{"token":"abc"}'
IN_CHUNKS = b'HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\nf\r\n{"token":"abc"}\r\n0\r\n\r\n'
REFUSAL = b"HTTP/1.1 409 Conflict\r\ncontent-length: 8\r\n\r\nconflict"

Serve = Callable[[bytes], tuple[str, int]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that gives the same answer to every request; return its address."""
    servers: list[ThreadingTCPServer] = []

    def serve(answer: bytes) -> tuple[str, int]:
        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                for line in self.rfile:
                    if line == b"\r\n" and not answer:
                        return
                    if line == b"\r\n":
                        self.wfile.write(answer)

        server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        servers.append(server)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        return server.server_address

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("answer", [WITH_LENGTH, IN_CHUNKS], ids=["length", "chunks"])
def test_clients_get_the_answers_to_their_requests(serve, answer):
    tokens: list[str] = []

    def client() -> Client:
        for _ in range(3):
            answered = yield request()
            tokens.append(answered.token)

    measured = drive(serve(answer), [client(), client()], seconds=5)

    assert tokens == ["abc"] * 6
    assert len(measured.latencies) == 6
    assert 0 < measured.elapsed < 5


def test_clients_that_never_end_are_stopped_in_time(serve):
    def client() -> Client:
        while True:
            yield request()

    measured = drive(serve(WITH_LENGTH), [client()], seconds=0.2)

    assert measured.latencies
    assert 0.2 <= measured.elapsed < 2


def test_refusal_ends_the_run(serve):
    def client() -> Client:
        yield request()

    with pytest.raises(StackError, match="GET /x was answered 409: conflict"):
        drive(serve(REFUSAL), [client()], seconds=5)


def test_refusal_that_is_meant_to_come_is_an_answer(serve):
    tokens: list[str] = []

    def client() -> Client:
        tokens.append((yield request(refusal=409)).token)

    measured = drive(serve(REFUSAL), [client()], seconds=5)

    assert tokens == [""]
    assert len(measured.latencies) == 1


def test_success_instead_of_a_refusal_ends_the_run(serve):
    def client() -> Client:
        yield request(refusal=409)

    with pytest.raises(StackError, match="GET /x was answered 200"):
        drive(serve(WITH_LENGTH), [client()], seconds=5)


def test_connection_that_is_closed_ends_the_run(serve):
    def client() -> Client:
        yield request()

    with pytest.raises(StackError, match="GET /x got no answer"):
        drive(serve(b""), [client()], seconds=0.1)


def test_measurement_gives_rate_percentiles_and_processor_time():
    measured = Measurement(latencies=[0.004, 0.001, 0.003, 0.002, 0.010], elapsed=2, cpu={"web": 0.04})

    assert measured.rate == 2.5
    assert measured.cpu_ms("web") == 8
    assert measured.percentile(50) == 0.003
    assert measured.percentile(99) == 0.004
    assert measured.percentile(100) == 0.010


def request(*, refusal: int | None = None) -> Request:
    return Request.make("something", "GET /x", headers={"Host": "localhost"}, refusal=refusal)


def test_two_measurements_are_added_as_if_they_were_one():
    first = Measurement(latencies=[0.1, 0.2], elapsed=1, own_time=0.1, cpu={"web": 1.0})
    second = Measurement(
        latencies=[0.3], elapsed=2, finish_time=0.5, own_time=0.2, cpu={"web": 2.0, "worker": 1.0}
    )

    both = first + second

    assert both.rate == 1
    assert both == Measurement(
        latencies=[0.1, 0.2, 0.3],
        elapsed=3,
        finish_time=0.5,
        own_time=pytest.approx(0.3),
        cpu={"web": 3.0, "worker": 1.0},
    )
    assert first.latencies == [0.1, 0.2]
