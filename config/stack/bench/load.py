"""The load generator: one thread, one connection for each client, no client library.

A client is a generator that yields requests and is sent their answers, so that what it does reads as a
sequence of steps, while all clients share one loop.
"""

import socket
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from selectors import EVENT_READ, DefaultSelector
from time import perf_counter, process_time

from config.stack.errors import StackError

from .messages import Answer, Request

Client = Generator[Request, Answer, None]

_TIMEOUT_SECONDS = 15
_LAST_CHUNK = b"\r\n0\r\n\r\n"


@dataclass(slots=True)
class Measurement:
    """Latencies in seconds of the answers that came in time, and how long it took."""

    latencies: list[float] = field(default_factory=list)
    elapsed: float = 0
    # Seconds of processor time that the generator itself has used.
    own_time: float = 0

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.elapsed if self.elapsed else 0

    def percentile(self, percent: int) -> float:
        """Seconds that so many percent of the answers took at most."""
        ordered = sorted(self.latencies)
        return ordered[(len(ordered) - 1) * percent // 100] if ordered else 0


class _Connection:
    """A client with its kept-alive connection, on which one request at a time is under way."""

    def __init__(self, address: tuple[str, int], client: Client) -> None:
        self.socket = socket.create_connection(address, timeout=_TIMEOUT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.client = client
        self.request: Request | None = None
        self.sent_at = 0.0
        self._received = b""

    def close(self) -> None:
        self.client.close()
        self.socket.close()

    def begin(self, answer: Answer | None = None) -> bool:
        """Hand the client its answer and send what it asks next; False when it asks nothing more."""
        try:
            self.request = next(self.client) if answer is None else self.client.send(answer)
        except StopIteration:
            return False
        self.sent_at = perf_counter()
        self.socket.sendall(self.request.encoded)
        return True

    def receive(self) -> Answer | None:
        """Read what has come: the answer once it is whole. Raises `StackError` for a refusal."""
        part = self.socket.recv(65536)
        if not part:
            raise StackError(f"{self.request} was not answered: the connection was closed.")
        self._received += part
        end_of_head = self._received.find(b"\r\n\r\n")
        if end_of_head < 0 or not _is_whole(self._received, end_of_head + 4):
            return None
        answer = Answer(int(self._received[9:12]), self._received[end_of_head + 4 :])
        self._received = b""
        if not 200 <= answer.status < 300:
            raise StackError(f"{self.request} was answered {answer.status}: {answer.body.decode()}")
        return answer


def drive(address: tuple[str, int], clients: Sequence[Client], *, seconds: float) -> Measurement:
    """Run all clients at once until they end, or the time is over; what is under way then is not counted."""
    measurement = Measurement()
    with ExitStack() as stack, DefaultSelector() as selector:
        connections = [stack.enter_context(closing(_Connection(address, client))) for client in clients]
        began, own_began = perf_counter(), process_time()
        for connection in connections:
            if connection.begin():
                selector.register(connection.socket, EVENT_READ, connection)
        _serve(selector, measurement, deadline=began + seconds)
        measurement.elapsed = perf_counter() - began
        measurement.own_time = process_time() - own_began
    return measurement


def _serve(selector: DefaultSelector, measurement: Measurement, *, deadline: float) -> None:
    while selector.get_map():
        events = selector.select(timeout=_TIMEOUT_SECONDS)
        if not events:
            raise StackError(f"Nothing was answered within {_TIMEOUT_SECONDS} s.")
        for key, _ in events:
            connection: _Connection = key.data
            answer = connection.receive()
            if answer is None:
                continue
            now = perf_counter()
            if now > deadline:
                return
            measurement.latencies.append(now - connection.sent_at)
            if not connection.begin(answer):
                selector.unregister(connection.socket)


def _is_whole(received: bytes, body_starts: int) -> bool:
    """Whether the body is all there; without a length it comes in chunks."""
    head = received[:body_starts].lower()
    _, found, rest = head.partition(b"content-length:")
    if found:
        return len(received) - body_starts >= int(rest.split(b"\r\n", 1)[0])
    return received.endswith(_LAST_CHUNK)
