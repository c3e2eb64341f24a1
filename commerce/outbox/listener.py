"""A thread beside the Celery worker that listens for committed dispatches and wakes the worker."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, cast

import psycopg
from celery import bootsteps
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from commerce.outbox.tasks import wake_worker

if TYPE_CHECKING:
    from commerce.tenancy.postgresql.base import DatabaseWrapper

logger = logging.getLogger(__name__)

CHANNEL = "outbox_new"

_MAX_WAIT_S = 30
# How long a wait for notifications lasts until the thread looks whether it has been told to stop.
_STOP_CHECK_S = 0.5
# A burst of notifications wakes the worker once.
_BURST_S = 0.1


class Listener(Thread):
    """Calls `wake` after commits that enqueued something, and after each reconnection."""

    def __init__(self, wake: Callable[[], None]) -> None:
        super().__init__(name="outbox-listener", daemon=True)
        self.wake = wake
        self._stopping = Event()
        self._failures = 0

    def run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except Exception as error:  # noqa: BLE001  reconnects whatever the error
                # Longer after each failure, so that a database that is starting isn't flooded. The exponent is bounded
                # as well, since an outage of days would make a huge number of it.
                wait_s = min(2 ** min(self._failures, 10), _MAX_WAIT_S)
                self._failures += 1
                logger.warning("The outbox is not listened to, trying again in %s s: %s", wait_s, error)
                self._stopping.wait(wait_s)

    def stop(self, *, timeout_s: float = 5) -> None:
        self._stopping.set()
        if self.is_alive():
            self.join(timeout_s)

    def _listen(self) -> None:
        with connect_directly() as direct:
            direct.execute(f"LISTEN {CHANNEL}")
            self._failures = 0
            # For what was enqueued while nobody listened: notifications aren't kept.
            self.wake()
            while not self._stopping.is_set():
                if list(direct.notifies(timeout=_STOP_CHECK_S, stop_after=1)):
                    self.wake()
                    self._stopping.wait(_BURST_S)


def connect_directly() -> psycopg.Connection:
    """A connection outside of Django's pool, because LISTEN belongs to a session and this one lasts."""
    # With keepalives, a server that has vanished silently is noticed within a minute.
    keepalives = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
    wrapper = cast("DatabaseWrapper", connections[DEFAULT_DB_ALIAS].copy())
    wrapper.settings_dict |= settings.DATABASE_LISTEN
    parameters = wrapper.make_connection_params() | keepalives | {"connect_timeout": 5}
    return psycopg.connect(**parameters, autocommit=True)


class ListenerStep(bootsteps.StartStopStep):
    """Runs the listener for as long as the Celery worker runs, in its main process."""

    requires = ("celery.worker.components:Pool",)

    def create(self, parent: object) -> Any:
        return Listener(wake_worker)
