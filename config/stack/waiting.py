"""Waiting that never hangs: every wait has a deadline, and a stop signal ends it."""

import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType

from config.stack.errors import Interrupted

Pause = Callable[[float], None]

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL_SECONDS = 0.03

# A signal sent to the whole process group arrives twice, since `make` passes its own on.
SAME_SIGNAL_SECONDS = 0.5


class StopSignals:
    """Turns stop signals into `Interrupted`, raised only where something waits, never inside other work."""

    def __init__(self) -> None:
        self._received = 0
        self._tolerated = 0
        self._last_at = float("-inf")

    def install(self) -> None:
        for number in STOP_SIGNALS:
            # `nohup` ignores SIGHUP on purpose, whereas a shell's background job ignores SIGINT by accident.
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._receive)

    def _receive(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last_at > SAME_SIGNAL_SECONDS:
            self._received += 1
        self._last_at = now

    def pause(self, seconds: float) -> None:
        """Sleep; raises `Interrupted` once a stop signal has arrived that nobody has acted on yet."""
        if self._received == self._tolerated:
            time.sleep(seconds)
        if self._received > self._tolerated:
            raise Interrupted

    def acknowledge(self) -> None:
        """Stopping has begun: from here on only a further signal interrupts."""
        self._tolerated = self._received


def until_deadline(seconds: float, *, pause: Pause = time.sleep) -> Iterator[None]:
    """Yield at once and then every few milliseconds until the seconds given are over."""
    deadline = time.monotonic() + seconds
    yield
    while time.monotonic() < deadline:
        pause(POLL_SECONDS)
        yield
