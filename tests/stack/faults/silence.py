"""Clients that connect and keep the server waiting."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from selectors import EVENT_READ, DefaultSelector

from tests.clients import STOREFRONT_ROOT

_LINE = f"POST {STOREFRONT_ROOT}carts.json HTTP/1.1"
_HEAD = _LINE.encode() + b"\r\nHost: localhost\r\nX-Storefront-Key: %b\r\n"
_CHECK_S = 0.2


class SilentClients:
    """A number of connections. One that the server closes is reopened."""

    def __init__(self, address: tuple[str, int], *, number: int, key: str) -> None:
        head = _HEAD % key.encode()
        openings = (
            b"",
            head,
            head + b"Content-Length: 1000\r\n\r\n",
            head + b"Transfer-Encoding: chunked\r\n\r\n",
        )
        # Twenty answers of 200 KiB that nobody reads.
        unread = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20
        self._address = address
        self._stopped = threading.Event()
        self._selector = DefaultSelector()
        self._readers_of_nothing = [self._opened(unread) for _ in range(number // 10)]
        for index in range(number - len(self._readers_of_nothing)):
            self._watch(openings[index % len(openings)])

    def keep_silent(self) -> None:
        while not self._stopped.is_set():
            for key, _ in self._selector.select(timeout=_CHECK_S):
                connection, opening = key.fileobj, key.data
                if _has_ended(connection):
                    self._selector.unregister(connection)
                    connection.close()
                    self._watch(opening)

    def stop(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        for connection in [key.fileobj for key in self._selector.get_map().values()]:
            connection.close()
        for connection in self._readers_of_nothing:
            connection.close()
        self._selector.close()

    def _watch(self, opening: bytes) -> None:
        self._selector.register(self._opened(opening), EVENT_READ, opening)

    def _opened(self, opening: bytes) -> socket.socket:
        connection = socket.create_connection(self._address, timeout=60)
        connection.sendall(opening)
        return connection


def _has_ended(connection: socket.socket) -> bool:
    """Read what has arrived; return whether the connection has ended."""
    with suppress(ConnectionError):
        return connection.recv(65536) == b""
    return True


@contextmanager
def silence(address: tuple[str, int], *, number: int, key: str) -> Iterator[None]:
    """Run silent clients for as long as the block lasts."""
    with ExitStack() as exits:
        clients = exits.enter_context(closing(SilentClients(address, number=number, key=key)))
        thread = threading.Thread(target=clients.keep_silent)
        thread.start()
        exits.callback(thread.join)
        exits.callback(clients.stop)
        yield
