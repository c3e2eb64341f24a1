"""DNS look-ups with a time-out, which `socket.getaddrinfo` lacks: name servers may be hostile."""

import socket
from collections import Counter
from threading import Lock, Thread
from typing import Any

Addresses = list[tuple[Any, ...]]

# How many look-ups of one process may wait at once. One that timed out goes on until the resolver's own limit.
MAX_LOOKUPS = 64
MAX_LOOKUPS_OF_A_NAME = 4

_lock = Lock()
_under_way: Counter[str] = Counter()


def look_up(host: str, port: int, *, timeout_s: float) -> Addresses:
    """Like `socket.getaddrinfo` for TCP. Raises `OSError`, which includes `TimeoutError`, and `ValueError`."""
    if _is_literal(host):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    _begin(host)
    lookup = _Lookup(host, port)
    try:
        lookup.start()
    except BaseException:
        _end(host)
        raise
    lookup.join(timeout_s)
    return lookup.result()


class _Lookup(Thread):
    def __init__(self, host: str, port: int) -> None:
        super().__init__(name="lookup", daemon=True)
        self._host, self._port = host, port
        self._found: Addresses | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        try:
            self._found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except Exception as error:  # noqa: BLE001  raised in the waiting thread
            self._error = error
        finally:
            _end(self._host)

    def result(self) -> Addresses:
        if self._error is not None:
            raise self._error
        if self._found is None:
            raise TimeoutError("The name servers gave no answer.")
        return self._found


def _is_literal(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except (OSError, ValueError):
            continue
        return True
    return False


def _begin(host: str) -> None:
    with _lock:
        if _under_way.total() >= MAX_LOOKUPS or _under_way[host] >= MAX_LOOKUPS_OF_A_NAME:
            raise TimeoutError("Too many look-ups are waiting for name servers.")
        _under_way[host] += 1


def _end(host: str) -> None:
    with _lock:
        _under_way[host] -= 1
        if not _under_way[host]:
            del _under_way[host]
