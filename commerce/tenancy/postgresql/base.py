from collections.abc import Callable
from typing import Any

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations as PostgresOperations
from psycopg import Connection

from .pool import FailFastPool

_BITS = {"Small": 16, "Integer": 32, "Big": 64}


class DatabaseOperations(PostgresOperations):
    """Binds integers by their size.

    Django treats a number in an expression such as `F("total_cents") + amount` as an `IntegerField`, whatever the
    column, and psycopg packs it into 32 bits unchecked: 2^32 + 1 would be sent as 1. Bound by its size, the number is
    either calculated with, or refused by PostgreSQL as out of range.
    """

    def adapt_integerfield_value(self, value: object, internal_type: str) -> object:
        if isinstance(value, int):
            size = internal_type.removeprefix("Positive")
            limit = 2 ** (next(bits for name, bits in _BITS.items() if size.startswith(name)) - 1)
            if not -limit <= value < limit:
                # A plain int, for which psycopg chooses a type by its size.
                return value
        return super().adapt_integerfield_value(value, internal_type)


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations
    # Django's own attribute, missing in its stubs.
    _connection_pools: dict[str, FailFastPool]
    _configure_connection: Callable[[Connection[Any]], None]

    @property
    def pool(self) -> FailFastPool | None:
        """Django's pool, but of our own class."""
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
            # Two threads may make a pool at the same time. The first one is used, and the other was never opened.
            self._connection_pools.setdefault(self.alias, pool)
        return self._connection_pools[self.alias]
