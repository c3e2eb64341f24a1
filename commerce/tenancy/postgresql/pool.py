"""A pool that says at once that the database is away, and finds out soon that it is back."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from psycopg import Connection, OperationalError
from psycopg_pool import ConnectionPool, PoolTimeout

CHECK_INTERVAL_S = 1.0
# How long nobody asks a server that has just refused a connection.
REST_S = 0.5

_CHECKED_AT = "checked_at"
# How long a thread waits before it looks again whether connecting has failed meanwhile.
_LOOK_S = 0.05


def check_now_and_then(connection: Connection[Any]) -> None:
    """Find out whether the server still knows a connection, unless it has just proved so.

    After a restart of the server a connection that was used within the last second fails once.
    """
    now = time.monotonic()
    if now - getattr(connection, _CHECKED_AT, 0.0) < CHECK_INTERVAL_S:
        return
    ConnectionPool.check_connection(connection)
    setattr(connection, _CHECKED_AT, now)


class Unreachable(OperationalError):
    """No connection could be made a moment ago."""


class FailFastPool(ConnectionPool[Connection[Any]]):
    """Tells those who wait when connecting has failed, instead of having each wait for the whole time-out.

    While the server is away, one thread at a time tries again, and all others are refused at once.
    """

    def __init__(self, **options: Any) -> None:
        self._failed_at: float | None = None
        self._is_trying = Lock()
        super().__init__(
            connection_class=_reporting_to(self._note),
            # Without anybody who wants a connection, none is made.
            reconnect_timeout=0,
            check=check_now_and_then,
            **options,
        )

    def getconn(self, timeout: float | None = None) -> Connection[Any]:
        """Raises `Unreachable` where the server is away."""
        failed_at = self._failed_at
        if failed_at is None or self.get_stats().get("pool_available"):
            return self._wait_for_one(timeout)
        if time.monotonic() - failed_at < REST_S or not self._is_trying.acquire(blocking=False):
            raise Unreachable("The database could not be reached a moment ago.")
        try:
            return self._wait_for_one(timeout)
        finally:
            self._is_trying.release()

    def _wait_for_one(self, timeout: float | None) -> Connection[Any]:
        began = time.monotonic()
        deadline = began + (self.timeout if timeout is None else timeout)
        while True:
            try:
                return super().getconn(timeout=_LOOK_S)
            except PoolTimeout:
                if self._failed_at is not None and self._failed_at >= began:
                    raise Unreachable("The database can't be reached.") from None
                if time.monotonic() >= deadline:
                    raise

    def _note(self, has_failed: bool) -> None:
        self._failed_at = time.monotonic() if has_failed else None


def _reporting_to(note: Callable[[bool], None]) -> type[Connection[Any]]:
    """A class of connections that tells how each attempt to connect went."""

    class Reporting(Connection[Any]):
        @classmethod
        def connect(cls, *arguments: Any, **options: Any) -> Any:
            try:
                made = super().connect(*arguments, **options)
            except Exception:
                note(True)
                raise
            note(False)
            return made

    return Reporting
