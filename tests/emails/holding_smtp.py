"""A mail server that lets its clients wait until a test releases them."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from commerce.configuration.operations import change_settings
from tests.servers import serving
from tests.shops import Shop

# For a busy machine. Nothing that is asserted depends on it.
PATIENCE_S = 300


class Holder:
    """Answers RCPT with `answer` once it is released. Counts the messages that wait for it and those it has answered."""

    def __init__(self, answer: bytes) -> None:
        self.may_answer = threading.Event()
        self.waiting = self.answered = 0
        self._answer = answer
        self._lock = threading.Lock()

    def serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as told, suppress(OSError):
            connection.sendall(b"220 ready\r\n")
            while line := told.readline():
                connection.sendall(self._reply(line[:4].upper()))
                if line[:4].upper() == b"DATA":
                    while told.readline() not in (b".\r\n", b""):
                        pass
                    connection.sendall(b"250 taken\r\n")

    def _reply(self, command: bytes) -> bytes:
        if command == b"DATA":
            return b"354 go\r\n"
        if command != b"RCPT":
            return b"250 ok\r\n"
        with self._lock:
            self.waiting += 1
        self.may_answer.wait(PATIENCE_S)
        with self._lock:
            self.waiting -= 1
            self.answered += 1
        return self._answer + b"\r\n"


@contextmanager
def holding_server(*shops: Shop, answer: bytes) -> Iterator[Holder]:
    """A server that these shops have set as their own."""
    holder = Holder(answer)
    with serving(holder.serve) as port:
        values = {"provider": "smtp", "smtp_host": "127.0.0.1", "smtp_port": port, "smtp_security": "none"}
        for shop in shops:
            with shop.scope():
                change_settings(changes={f"commerce.email.{name}": value for name, value in values.items()})
        try:
            yield holder
        finally:
            holder.may_answer.set()
