"""Lets a thread tell its server while its request waits for an outside service, so that another thread can work."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_thread = threading.local()


def when_waiting(begin: Callable[[], None] | None, end: Callable[[], None] | None) -> None:
    """Have these called whenever work in this thread begins and ends to wait."""
    _thread.begin, _thread.end = begin, end


@contextmanager
def waiting() -> Iterator[None]:
    begin, end = getattr(_thread, "begin", None), getattr(_thread, "end", None)
    if begin is not None:
        begin()
    try:
        yield
    finally:
        if end is not None:
            end()
