"""Lets a thread tell its server while its request waits for an outside service, so that another thread can work."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_thread = threading.local()


def when_waiting(begin: Callable[[], None] | None, end: Callable[[], None] | None) -> None:
    """Have these functions called when this thread begins to wait and when it goes on. None calls nothing."""
    _thread.begin, _thread.end = begin, end


@contextmanager
def waiting() -> Iterator[None]:
    # Only threads of our own server (config/front) have somebody to tell. Others, such as those of tests, do not.
    begin, end = getattr(_thread, "begin", None), getattr(_thread, "end", None)
    if begin is not None:
        begin()
    try:
        yield
    finally:
        if end is not None:
            end()
