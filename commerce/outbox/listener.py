"""The wake-up: a thread beside the Celery worker that listens for committed dispatches."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import psycopg
from celery import bootsteps
from django.db import connection

from commerce.outbox.tasks import wake_worker

logger = logging.getLogger(__name__)

CHANNEL = "outbox_new"

# A server that vanished without a word is noticed after a minute.
_KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_MAX_WAIT_S = 30
_STOP_CHECK_S = 0.5
# Notifications of one burst wake once.
_BURST_S = 0.1


class Listener(Thread):
    """Calls `wake` after commits that enqueued something, and after each time that it could not listen."""

    def __init__(self, wake: Callable[[], None]) -> None:
        super().__init__(name="outbox-listener", daemon=True)
        self.wake = wake
        self._stopping = Event()
        self._failures = 0

    def run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except Exception as error:  # noqa: BLE001  whatever broke the connection, it is made again
                self._wait_after(error)

    def stop(self, *, timeout_s: float = 5) -> None:
        self._stopping.set()
        if self.is_alive():
            self.join(timeout_s)

    def _listen(self) -> None:
        with _direct_connection() as direct:
            direct.execute(f"LISTEN {CHANNEL}")
            self._failures = 0
            self.wake()
            while not self._stopping.is_set():
                if list(direct.notifies(timeout=_STOP_CHECK_S, stop_after=1)):
                    self.wake()
                    self._stopping.wait(_BURST_S)

    def _wait_after(self, error: Exception) -> None:
        wait_s = min(2 ** min(self._failures, 10), _MAX_WAIT_S)
        self._failures += 1
        logger.warning("The outbox is not listened to, trying again in %s s: %s", wait_s, error)
        self._stopping.wait(wait_s)


def _direct_connection() -> psycopg.Connection:
    """One of its own, outside of Django's pool: LISTEN belongs to a session, and this one lasts."""
    parameters = connection.get_connection_params() | _KEEPALIVES | {"connect_timeout": 5}
    return psycopg.connect(**parameters, autocommit=True)


class ListenerStep(bootsteps.StartStopStep):
    """Runs the listener for as long as a Celery worker runs, in the process that its pool is forked from."""

    requires = ("celery.worker.components:Pool",)

    def create(self, parent: Any) -> Any:
        return Listener(wake_worker)
