"""Bounds the total time of an outside call.

A socket's time-out bounds one read, so a server that sends a byte now and then never reaches it. Here a thread of the
process shuts down every connection of a call when its time is up, and its reads and writes fail at once.
"""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from heapq import heappop, heappush
from itertools import count
from threading import Condition, Lock, Thread


class Deadline:
    """The time by which a call has to end. Clients register each connection that they use with `cover`."""

    def __init__(self, ends_at: float) -> None:
        self._ends_at = ends_at
        self._lock = Lock()
        self._handles: list[socket.socket] = []
        self._is_watched = False

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
        # A duplicate: TLS takes over the connection's own handle, which only its user may close.
        handle = socket.socket(fileno=os.dup(connection.fileno()))
        with self._lock:
            self._handles.append(handle)
            is_first, self._is_watched = not self._is_watched, True
        if is_first:
            _watch.add(self._ends_at, self)

    def release(self) -> None:
        """Stop watching the connections, as the call has ended."""
        with self._lock:
            for handle in self._handles:
                handle.close()
            self._handles.clear()

    def shut_down(self) -> None:
        """Shut down what is still watched, as the time is up."""
        # Under the lock, as the number of a handle that is closed meanwhile may already be that of another file.
        with self._lock:
            for handle in self._handles:
                # Closing a handle wouldn't wake a thread that waits in a read. The other side may have hung up before.
                with suppress(OSError):
                    handle.shutdown(socket.SHUT_RDWR)


class _Watch:
    """Shuts down deadlines when their time is up. One thread for all, as starting one takes long next to a quick call."""

    def __init__(self) -> None:
        # A heap of deadlines by their end. Those of finished calls stay until then, and shut nothing down.
        self._ends: list[tuple[float, int, Deadline]] = []
        # Numbers decide between deadlines with the same end.
        self._numbers = count()
        self._changed = Condition()
        self._thread: Thread | None = None

    def add(self, ends_at: float, limit: Deadline) -> None:
        with self._changed:
            heappush(self._ends, (ends_at, next(self._numbers), limit))
            if self._thread is None or not self._thread.is_alive():
                thread = Thread(target=self._run, name="deadlines", daemon=True)
                # Raises if the process may have no more threads. The next call then tries again.
                thread.start()
                self._thread = thread
            elif self._ends[0][0] == ends_at:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._ends or (left_s := self._ends[0][0] - time.monotonic()) > 0:
                    self._changed.wait(left_s if self._ends else None)
                _, _, limit = heappop(self._ends)
            limit.shut_down()


_watch = _Watch()


def _restart_watch() -> None:
    """Threads don't survive a fork, and another one may have held the lock."""
    global _watch  # noqa: PLW0603
    _watch = _Watch()


os.register_at_fork(after_in_child=_restart_watch)

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
