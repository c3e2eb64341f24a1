"""Restarts services that die. A service that keeps dying ends the run."""

import signal
import sys
import time
from collections import deque
from dataclasses import dataclass, field

from config.stack.errors import Interrupted, StackError
from config.stack.forking import reap_adopted
from config.stack.processes import Service
from config.stack.waiting import StopSignals, until_deadline

_WINDOW_SECONDS = 60
_MAX_DEATHS = 10
_FIRST_BACKOFF_SECONDS = 0.1
_MAX_BACKOFF_SECONDS = 5
_WATCH_SECONDS = 0.2


@dataclass
class Watched:
    """A service, the times of its deaths, and when to restart it (in seconds of the monotonic clock)."""

    service: Service
    deaths: deque[float] = field(default_factory=deque)
    restart_at: float | None = None

    def tend(self, *, now: float) -> None:
        """Schedule a restart if the service has died; restart it if that time has come."""
        if self.restart_at is not None:
            if now >= self.restart_at:
                self.restart_at = None
                self.service.start()
            return
        status = self.service.exit_status()
        if status is None:
            return
        # Its children may be alive and hold its port.
        self.service.kill()
        self.deaths.append(now)
        while self.deaths[0] < now - _WINDOW_SECONDS:
            self.deaths.popleft()
        name, deaths = self.service.name, len(self.deaths)
        if deaths >= _MAX_DEATHS:
            raise StackError(f"{name} ended {deaths} times within a minute.\n{self.service.log_tail()}")
        # Popen gives the number of the signal that ended a process as a negative status.
        end = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        print(f"{name} {end}; restarting it.", file=sys.stderr, flush=True)
        self.restart_at = now + min(_FIRST_BACKOFF_SECONDS * 2 ** (deaths - 1), _MAX_BACKOFF_SECONDS)


class Supervisor:
    """Holds services in the order in which they were started, and stops them in reverse order."""

    def __init__(self, signals: StopSignals, *, adopts: bool = False) -> None:
        """`adopts` if this process is the parent of all orphans (`adopt_orphans`)."""
        self._signals = signals
        self.adopts = adopts
        self._watched: list[Watched] = []

    def start(self, *services: Service) -> None:
        for service in services:
            # Registered before it runs, so that it is stopped even if starting it raises.
            self._watched.append(Watched(service))
            service.start()

    def wait_until_ready(self, *services: Service, seconds: float) -> None:
        """Wait for these services, or else for all.

        Raises `StackError` with the end of a log if one ends or doesn't answer in time.
        """
        pending = [*services] or [watched.service for watched in self._watched]
        for _ in until_deadline(seconds, pause=self._signals.pause):
            pending = [service for service in pending if not service.is_up()]
            if not pending:
                return
        raise pending[0].make_timeout_error(seconds)

    def watch(self) -> None:
        """Restart services that die, until `Interrupted` or `StackError` is raised."""
        while True:
            for watched in self._watched:
                watched.tend(now=time.monotonic())
            if self.adopts:
                reap_adopted({watched.service.pid for watched in self._watched})
            self._signals.pause(_WATCH_SECONDS)

    def stop(self) -> None:
        """Stop all services in reverse order. A second stop signal kills the remaining ones at once."""
        self._signals.acknowledge()
        try:
            for watched in reversed(self._watched):
                watched.service.stop(pause=self._signals.pause)
        except Interrupted:
            for watched in reversed(self._watched):
                watched.service.kill()
