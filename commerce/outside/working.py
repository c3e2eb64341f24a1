"""Lets a thread tell its server that its request now waits for an outside service, so that another thread can work."""

import threading
from collections.abc import Callable

_thread = threading.local()


def when_waiting(callback: Callable[[], None] | None) -> None:
    """Have `callback` called whenever work in this thread begins to wait."""
    _thread.callback = callback


def begin_waiting() -> None:
    callback = getattr(_thread, "callback", None)
    if callback is not None:
        callback()
