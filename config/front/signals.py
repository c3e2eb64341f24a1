"""Tells the front that its process is to end."""

import signal
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Any


def call_when_told_to_end(loop: AbstractEventLoop, act: Callable[[], None]) -> None:
    """Have `act` called on the event loop at the signal to end, besides what the server does then.

    The server finishes running requests, but doesn't say that it has begun to. Its own handler belongs to the event
    loop, which notices a signal whoever handles it.
    """

    def handle(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(act)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
        # As asyncio does for its own handlers: after signal.signal() alone, system calls of C libraries fail with EINTR.
        signal.siginterrupt(number, False)
