"""Waits with a deadline that a stop signal can interrupt."""

import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType

from config.stack.errors import Interrupted

Pause = Callable[[float], None]

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL_SECONDS = 0.03

# A signal sent to the whole process group arrives twice, since `make` forwards its own. Signals this close together
# count as one.
SAME_SIGNAL_SECONDS = 0.5


class StopSignals:
    """Turns stop signals into `Interrupted`, which is raised only while waiting, never inside other work."""

    def __init__(self) -> None:
        self._received = 0
        self._tolerated = 0
        self._last_at = float("-inf")

    def install(self) -> None:
        for number in STOP_SIGNALS:
            # Respect that `nohup` ignores SIGHUP. An ignored SIGINT only means that a shell runs us in the background.
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._receive)

    def _receive(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last_at > SAME_SIGNAL_SECONDS:
            self._received += 1
        self._last_at = now

    def pause(self, seconds: float) -> None:
        """Sleep. Raises `Interrupted` if a stop signal has arrived that wasn't acknowledged."""
        if self._received == self._tolerated:
            time.sleep(seconds)
        if self._received > self._tolerated:
            raise Interrupted

    def acknowledge(self) -> None:
        """Mark the received signals as handled: from now on only a further signal interrupts."""
        self._tolerated = self._received


def until_deadline(seconds: float, *, pause: Pause = time.sleep) -> Iterator[None]:
    """Yield at once, and then every few milliseconds until the time is over."""
    deadline = time.monotonic() + seconds
    yield
    while time.monotonic() < deadline:
        pause(POLL_SECONDS)
        yield
