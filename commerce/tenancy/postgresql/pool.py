"""A pool that fails at once while the database is down, and soon notices that it is back."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from psycopg import Connection, OperationalError
from psycopg_pool import ConnectionPool, PoolTimeout

from .connections import ScopedConnection

CHECK_INTERVAL_S = 1.0
# How long no connection is tried after a failure.
REST_S = 0.5

# How often a waiting thread checks whether connecting has failed meanwhile.
_LOOK_S = 0.05
# The attribute of a connection that keeps when it was last checked.
_CHECKED_AT = "checked_at"


def check_once_a_second(connection: Connection[object]) -> None:
    """Check that a connection still works, unless it was used within the last second.

    So after a restart of the server, a connection used just before fails once.
    """
    now = time.monotonic()
    if now - getattr(connection, _CHECKED_AT, 0.0) < CHECK_INTERVAL_S:
        return
    ConnectionPool.check_connection(connection)
    setattr(connection, _CHECKED_AT, now)


class Unreachable(OperationalError):
    """Connecting failed a moment ago."""


class FailFastPool(ConnectionPool[Connection[Any]]):
    """Fails waiting threads as soon as connecting has failed, instead of after the whole time-out.

    While the server is down, one thread at a time tries again and all others fail at once.
    """

    def __init__(self, **options: Any) -> None:
        self._failed_at: float | None = None
        self._is_trying = Lock()
        super().__init__(
            # The pool connects in threads of its own, so the connections report whether that worked.
            connection_class=_make_reporting_class(self._note_result),
            # No connection is made until one is needed.
            reconnect_timeout=0,
            check=check_once_a_second,
            **options,
        )

    def getconn(self, timeout: float | None = None) -> Connection[object]:
        """Raises `Unreachable` while the server is down."""
        failed_at = self._failed_at
        # A connection that is open already may work, whatever became of new ones.
        if failed_at is None or self.get_stats().get("pool_available"):
            return self._wait_for_one(timeout)
        if time.monotonic() - failed_at < REST_S or not self._is_trying.acquire(blocking=False):
            raise Unreachable("The database could not be reached a moment ago.")
        try:
            return self._wait_for_one(timeout)
        finally:
            self._is_trying.release()

    def putconn(self, conn: Connection[Any]) -> None:
        # One that was closed inside a transaction comes back as it was left. `reset` would do this in another thread.
        if isinstance(conn, ScopedConnection):
            conn.close_transaction()
        super().putconn(conn)

    def _wait_for_one(self, timeout: float | None) -> Connection[object]:
        began = time.monotonic()
        deadline = began + (self.timeout if timeout is None else timeout)
        while True:
            try:
                return super().getconn(timeout=_LOOK_S)
            except PoolTimeout:
                # A failure from before this wait says nothing about the attempt that it waits for.
                if self._failed_at is not None and self._failed_at >= began:
                    raise Unreachable("The database can't be reached.") from None
                if time.monotonic() >= deadline:
                    raise

    def _note_result(self, has_failed: bool) -> None:
        self._failed_at = time.monotonic() if has_failed else None


def _make_reporting_class(note: Callable[[bool], None]) -> type[Connection[Any]]:
    """A connection class that reports the result of each attempt to connect."""

    class Reporting(ScopedConnection):
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
