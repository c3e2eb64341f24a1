"""Keeps processes running: what dies is started again, and what keeps dying ends the run."""

import signal
import sys
import time
from collections import deque
from collections.abc import Callable

from .errors import Interrupted, StackError
from .processes import Process
from .waiting import POLL_SECONDS, StopSignals

WINDOW_SECONDS = 60
MAX_DEATHS = 10
MAX_DEATHS_AT_START = 3
FIRST_BACKOFF_SECONDS = 0.1
MAX_BACKOFF_SECONDS = 5
WATCH_SECONDS = 0.2


class _Watched:
    """One process, when it died, and when it may be started again (in seconds of the monotonic clock)."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._deaths: deque[float] = deque()
        self._restart_at: float | None = None

    def check(self, *, now: float, max_deaths: int) -> None:
        if self._restart_at is not None:
            if now >= self._restart_at:
                self._restart_at = None
                self.process.restart()
        elif (status := self.process.exit_status()) is not None:
            self._note_death(status, now=now, max_deaths=max_deaths)

    def _note_death(self, status: int, *, now: float, max_deaths: int) -> None:
        self._deaths.append(now)
        while self._deaths[0] < now - WINDOW_SECONDS:
            self._deaths.popleft()
        name, deaths = self.process.program.name, len(self._deaths)
        if deaths >= max_deaths:
            raise StackError(
                f"{name} ended {deaths} times within a minute, giving up.\n{self.process.log_tail()}"
            )
        print(f"{name} {_describe(status)}, starting it again.", file=sys.stderr, flush=True)
        self._restart_at = now + min(FIRST_BACKOFF_SECONDS * 2 ** (deaths - 1), MAX_BACKOFF_SECONDS)


class Supervisor:
    """Processes in the order in which they were started; they are stopped in the reverse order."""

    def __init__(self, signals: StopSignals) -> None:
        self._signals = signals
        self._watched: list[_Watched] = []

    def add(self, process: Process) -> None:
        self._watched.append(_Watched(process))

    def wait_for(self, checks: dict[str, Callable[[], bool]], *, seconds: float) -> None:
        """Wait until every named process passes its check; raises `StackError` with the log of one that doesn't."""
        deadline = time.monotonic() + seconds
        pending = dict(checks)
        while pending:
            self._check_all(max_deaths=MAX_DEATHS_AT_START)
            pending = {name: passes for name, passes in pending.items() if not passes()}
            if pending and time.monotonic() > deadline:
                name = next(iter(pending))
                raise StackError(
                    f"Waited {seconds:g} s for {name} to answer, in vain.\n{self._log_tail(name)}"
                )
            self._signals.pause(POLL_SECONDS)

    def watch(self) -> None:
        """Restart what dies until `Interrupted` or `StackError` is raised."""
        while True:
            self._check_all(max_deaths=MAX_DEATHS)
            self._signals.pause(WATCH_SECONDS)

    def stop(self) -> None:
        """Stop everything in order; a further stop signal kills what is left at once."""
        self._signals.acknowledge()
        while self._watched:
            try:
                self._watched[-1].process.stop(pause=self._signals.pause)
            except Interrupted:
                self._kill()
            else:
                self._watched.pop()

    def _kill(self) -> None:
        while self._watched:
            self._watched.pop().process.kill()

    def _check_all(self, *, max_deaths: int) -> None:
        for watched in self._watched:
            watched.check(now=time.monotonic(), max_deaths=max_deaths)

    def _log_tail(self, name: str) -> str:
        return next(
            watched.process.log_tail() for watched in self._watched if watched.process.program.name == name
        )


def _describe(status: int) -> str:
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
