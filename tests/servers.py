"""Misbehaving servers: silent, slow, scripted or absent."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def silent_server() -> Iterator[int]:
    """Yield the port of a server that accepts connections, reads nothing and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextmanager
def dripping_server(first: bytes = b"") -> Iterator[int]:
    """Yield the port of a server that sends `first` on every connection, and then a byte now and then, for ever."""
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.sendall(first)
            while not over.wait(0.05):
                connection.sendall(b"2")

    with serving(drip) as port:
        try:
            yield port
        finally:
            over.set()


@contextmanager
def talking_server(*lines: bytes) -> Iterator[int]:
    """Yield the port of a server that answers each line it gets with the next of these lines, then falls silent."""
    over = threading.Event()

    def talk(connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as told, suppress(OSError):
            for line in lines:
                connection.sendall(line)
                told.readline()
            over.wait()

    with serving(talk) as port:
        try:
            yield port
        finally:
            over.set()


@contextmanager
def serving(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Yield the port of a server that serves each connection in its own thread."""
    threads: list[threading.Thread] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=serve, args=(connection,)))
            threads[-1].start()

    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            accepting.join()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


def closed_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
