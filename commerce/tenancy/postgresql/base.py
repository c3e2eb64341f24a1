import time
from collections.abc import Callable
from typing import Any

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg import Connection
from psycopg_pool import ConnectionPool

CHECK_INTERVAL_S = 1.0

_CHECKED_AT = "checked_at"


def check_now_and_then(connection: Connection[Any]) -> None:
    """Find out whether the server still knows a connection, unless it has just proved so.

    After a restart of the server a connection that was used within the last second fails once.
    """
    now = time.monotonic()
    if now - getattr(connection, _CHECKED_AT, 0.0) < CHECK_INTERVAL_S:
        return
    ConnectionPool.check_connection(connection)
    setattr(connection, _CHECKED_AT, now)


class DatabaseWrapper(base.DatabaseWrapper):
    # Django's own, which its stubs leave out.
    _connection_pools: dict[str, ConnectionPool]
    _configure_connection: Callable[[Connection[Any]], None]

    @property
    def pool(self) -> ConnectionPool | None:
        """As Django makes it, but for the check."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if self.alias == NO_DB_ALIAS or not options:
            return None
        if self.alias not in self._connection_pools:
            pool = ConnectionPool(
                kwargs=self.get_connection_params() | {"autocommit": True},
                open=False,
                configure=self._configure_connection,
                check=check_now_and_then,
                **options,
            )
            self._connection_pools.setdefault(self.alias, pool)
        return self._connection_pools[self.alias]
