from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations as PostgresOperations
from psycopg import Connection

from commerce.tenancy.statements import Call, Message, Result

from .connections import ScopedConnection, ScopedCursor
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
    # `SET LOCAL` statements with which the next transaction begins.
    next_settings: Sequence[str] = ()

    def get_connection_params(self) -> dict[str, Any]:
        # Django asks whenever it takes a connection from the pool, which has them already.
        return {} if self.pool else self.make_connection_params()

    def make_connection_params(self) -> dict[str, Any]:
        """Compose what a new connection needs, also for one outside of the pool."""
        return super().get_connection_params() | {"cursor_factory": ScopedCursor}

    def _start_transaction_under_autocommit(self) -> None:
        """Django's hook for databases that begin transactions explicitly. The connection stays in autocommit mode."""
        if isinstance(self.connection, ScopedConnection):
            # Those of all transactions come first, if any: see config/settings/databases.py.
            always = self.settings_dict.get("TRANSACTION_SETTINGS")
            self.connection.open_transaction([*always, *self.next_settings] if always else self.next_settings)
        else:
            self.connection.execute("BEGIN")

    def ensure_connection(self) -> None:
        # Django's own looks for a running event loop first, and is called six times in a request.
        if self.connection is None:
            super().ensure_connection()

    def run(self, calls: Sequence[Call], *, may_wait: bool = False) -> list[Result]:
        """Run the calls in one message. Does what a cursor of Django does, in a third of the time.

        Calls that `may_wait` are sent with the next message of the transaction, and have no results.
        """
        if self.queries_logged:
            # Django's log is written by its cursors.
            return self._run_by_cursor(Message(calls, may_wait=may_wait))
        self.ensure_connection()
        if not self.execute_wrappers:
            return self._run(calls, may_wait)
        execute: Callable[..., list[Result]] = lambda *_: self._run(calls, may_wait)  # noqa: E731
        for wrapper in reversed(self.execute_wrappers):
            execute = partial(wrapper, execute)
        return execute(Message(calls), None, False, {"connection": self, "cursor": None})

    def _run(self, calls: Sequence[Call], may_wait: bool) -> list[Result]:
        self.validate_no_broken_transaction()
        with self.wrap_database_errors:
            if may_wait and not self.connection.autocommit:
                self.connection.post(calls)
                return []
            return self.connection.run(calls)

    def _run_by_cursor(self, message: Message) -> list[Result]:
        results = []
        with self.cursor() as cursor:
            cursor.execute(message)
            for _ in () if message.may_wait else message.calls:
                # `description` would tell it too, but makes an object for each column.
                rows = cursor.fetchall() if cursor.rownumber is not None else []
                results.append(Result(rows, cursor.rowcount))
                cursor.nextset()
        return results

    def _commit(self) -> None:
        if not (isinstance(self.connection, ScopedConnection) and self.connection.has_sent_nothing):
            super()._commit()  # type: ignore[misc]  # missing in Django's stubs

    def _set_autocommit(self, autocommit: bool) -> None:
        if autocommit and isinstance(self.connection, ScopedConnection) and self.connection.is_in_transaction:
            # Django rolls back if COMMIT fails by an error of the database. After another one, it would leave the
            # transaction open, and the next scope would commit it.
            self.connection.rollback()
        super()._set_autocommit(autocommit)  # type: ignore[misc]  # missing in Django's stubs
        if isinstance(self.connection, ScopedConnection):
            self.connection.close_transaction()

    def _savepoint_rollback(self, sid: str) -> None:
        # Setting the savepoint has sent what was posted before it.
        if isinstance(self.connection, ScopedConnection):
            self.connection.drop_posted()
        super()._savepoint_rollback(sid)  # type: ignore[misc]  # missing in Django's stubs

    @property
    def pool(self) -> FailFastPool | None:
        """Django's pool, but of our own class."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if self.alias == NO_DB_ALIAS or not options:
            return None
        if self.alias not in self._connection_pools:
            pool = FailFastPool(
                kwargs=self.make_connection_params() | {"autocommit": True},
                open=False,
                configure=self._configure_connection,
                **options,
            )
            # Two threads may make a pool at the same time. The first one is used, and the other was never opened.
            self._connection_pools.setdefault(self.alias, pool)
        return self._connection_pools[self.alias]
