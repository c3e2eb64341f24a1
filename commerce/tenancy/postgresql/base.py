from collections.abc import Callable
from typing import Any

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg import Connection

from .pool import FailFastPool


class DatabaseWrapper(base.DatabaseWrapper):
    # Django's own, which its stubs leave out.
    _connection_pools: dict[str, FailFastPool]
    _configure_connection: Callable[[Connection[Any]], None]

    @property
    def pool(self) -> FailFastPool | None:
        """As Django makes it, but of our own class."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if self.alias == NO_DB_ALIAS or not options:
            return None
        if self.alias not in self._connection_pools:
            pool = FailFastPool(
                kwargs=self.get_connection_params() | {"autocommit": True},
                open=False,
                configure=self._configure_connection,
                **options,
            )
            self._connection_pools.setdefault(self.alias, pool)
        return self._connection_pools[self.alias]
