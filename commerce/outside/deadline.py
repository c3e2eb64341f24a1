"""Bounds the total time of an outside call.

A socket's time-out bounds one read, so a server that sends a byte now and then never reaches it. Here a timer shuts
down every connection of the call when its time is up, and its reads and writes fail at once.
"""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Lock, Timer


class Deadline:
    """The time by which a call has to end. Clients register each connection that they use with `cover`."""

    def __init__(self, ends_at: float) -> None:
        self._ends_at = ends_at
        self._lock = Lock()
        self._handles: list[socket.socket] = []
        self._timer: Timer | None = None

    @property
    def left_s(self) -> float:
        return max(0.0, self._ends_at - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.left_s == 0

    def require_time(self) -> None:
        if self.is_over:
            raise TimeoutError("The time limit of this call has passed.")

    def cover(self, connection: socket.socket) -> None:
        """Have the connection shut down when the time is up. Raises `TimeoutError` if it is up already."""
        self.require_time()
        # A duplicated handle: TLS takes over the connection's own, and only its user may close that.
        handle = socket.socket(fileno=os.dup(connection.fileno()))
        with self._lock:
            self._handles.append(handle)
            # A timer is a thread, so a call that needs no connection starts none.
            if self._timer is None:
                self._timer = Timer(self.left_s, self._shut_down)
                self._timer.daemon = True
                self._timer.start()

    def release(self) -> None:
        """Stop watching the connections, as the call has ended."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            for handle in self._handles:
                handle.close()
            self._handles.clear()

    def _shut_down(self) -> None:
        # Under the lock, as the number of a handle that is closed meanwhile may already be that of another file.
        with self._lock:
            for handle in self._handles:
                # Closing a handle wouldn't wake a thread that waits in a read. The other side may have hung up before.
                with suppress(OSError):
                    handle.shutdown(socket.SHUT_RDWR)


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def current_deadline() -> Deadline | None:
    """The innermost deadline of this thread. It is never later than the outer ones."""
    return _current.get()


@contextmanager
def deadline(seconds: float) -> Iterator[Deadline]:
    """Bound the total time of all outside calls in the block. Of nested deadlines, the earliest counts."""
    outer = _current.get()
    ends_at = time.monotonic() + (seconds if outer is None else min(seconds, outer.left_s))
    limit = Deadline(ends_at)
    token = _current.set(limit)
    try:
        yield limit
    finally:
        _current.reset(token)
        limit.release()


def time_left(timeout_s: float) -> float:
    """The time-out, or what is left of the current deadline if that is less."""
    limit = _current.get()
    return timeout_s if limit is None else min(timeout_s, limit.left_s)


def cover(connection: socket.socket) -> None:
    """Put a connection under the current deadline, if there is one."""
    limit = _current.get()
    if limit is not None:
        limit.cover(connection)
