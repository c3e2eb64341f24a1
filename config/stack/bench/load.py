"""The load generator: one thread, one connection per client, no client library.

A client is a Python generator that yields requests and is sent their answers. Its code reads as a sequence of steps,
while all clients share one event loop.
"""

import socket
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from selectors import EVENT_READ, DefaultSelector
from time import perf_counter, process_time
from typing import Self

from config.stack.errors import StackError

from .messages import Answer, Request

Client = Generator[Request, Answer, None]

_TIMEOUT_SECONDS = 15
_LAST_CHUNK = b"\r\n0\r\n\r\n"


@dataclass(slots=True)
class Measurement:
    """Latencies in seconds of the answers that came in time, and the duration of the measurement."""

    latencies: list[float] = field(default_factory=list)
    elapsed: float = 0
    # The part of `elapsed` after the last answer.
    finish_time: float = 0
    # Seconds of processor time used by the generator itself, and by each kind of the stack's processes.
    own_time: float = 0
    cpu: dict[str, float] = field(default_factory=dict)

    def __add__(self, other: Self) -> Self:
        """Both measurements, as if they had been one."""
        kinds = self.cpu | other.cpu
        return replace(
            self,
            latencies=self.latencies + other.latencies,
            elapsed=self.elapsed + other.elapsed,
            finish_time=self.finish_time + other.finish_time,
            own_time=self.own_time + other.own_time,
            cpu={kind: self.cpu.get(kind, 0) + other.cpu.get(kind, 0) for kind in kinds},
        )

    @property
    def rate(self) -> float:
        """Answers per second."""
        return len(self.latencies) / self.elapsed if self.elapsed else 0

    def percentile(self, percent: int) -> float:
        """The latency in seconds that this percentage of the answers didn't exceed; 0 without answers."""
        ordered = sorted(self.latencies)
        return ordered[(len(ordered) - 1) * percent // 100] if ordered else 0

    def cpu_ms(self, kind: str) -> float:
        """Milliseconds of processor time that a kind of processes used per answer."""
        return self.cpu.get(kind, 0) / max(len(self.latencies), 1) * 1000


class _Connection:
    """A client and its persistent connection, with one request at a time."""

    # The latest one; there is none before `send_next`.
    request: Request

    def __init__(self, address: tuple[str, int], client: Client) -> None:
        self.socket = socket.create_connection(address, timeout=_TIMEOUT_SECONDS)
        # Otherwise a small request may wait for the acknowledgement of the one before, which would be measured.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.client = client
        self.sent_at = 0.0
        self._received = b""

    def close(self) -> None:
        self.client.close()
        self.socket.close()

    def send_next(self, answer: Answer | None = None) -> bool:
        """Pass the answer to the client and send its next request. Returns False if it has none."""
        try:
            self.request = next(self.client) if answer is None else self.client.send(answer)
        except StopIteration:
            return False
        self.sent_at = perf_counter()
        self.socket.sendall(self.request.encoded)
        return True

    def receive(self) -> Answer | None:
        """Read what has arrived; return the answer once it is complete. Raises `StackError` for a refusal."""
        part = self.socket.recv(65536)
        if not part:
            raise StackError(f"{self.request} got no answer: the connection was closed.")
        self._received += part
        end_of_head = self._received.find(b"\r\n\r\n")
        if end_of_head < 0 or not _has_whole_body(self._received, end_of_head + 4):
            return None
        answer = Answer(int(self._received[9:12]), self._received[end_of_head + 4 :])
        self._received = b""
        return self.request.check(answer)


def drive(address: tuple[str, int], clients: Sequence[Client], *, seconds: float) -> Measurement:
    """Run all clients concurrently until they end or the time is over. Unanswered requests don't count."""
    measurement = Measurement()
    with ExitStack() as stack, DefaultSelector() as selector:
        connections = [stack.enter_context(closing(_Connection(address, client))) for client in clients]
        began, own_began = perf_counter(), process_time()
        for connection in connections:
            if connection.send_next():
                selector.register(connection.socket, EVENT_READ, connection)
        _serve(selector, measurement, deadline=began + seconds)
        measurement.elapsed = perf_counter() - began
        measurement.own_time = process_time() - own_began
    return measurement


def _serve(selector: DefaultSelector, measurement: Measurement, *, deadline: float) -> None:
    while selector.get_map():
        events = selector.select(timeout=_TIMEOUT_SECONDS)
        if not events:
            raise StackError(f"No request was answered within {_TIMEOUT_SECONDS} s.")
        for key, _ in events:
            connection: _Connection = key.data
            answer = connection.receive()
            if answer is None:
                continue
            now = perf_counter()
            if now > deadline:
                return
            measurement.latencies.append(now - connection.sent_at)
            if not connection.send_next(answer):
                selector.unregister(connection.socket)


def _has_whole_body(received: bytes, body_starts: int) -> bool:
    """Whether the whole body has arrived. Without a Content-Length it is sent in chunks."""
    head = received[:body_starts].lower()
    _, found, rest = head.partition(b"content-length:")
    if found:
        return len(received) - body_starts >= int(rest.split(b"\r\n", 1)[0])
    return received.endswith(_LAST_CHUNK)
