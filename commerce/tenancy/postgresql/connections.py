"""psycopg's connection and cursor, with fewer round trips: docs/decisions/0011."""

from typing import Any, Self

import psycopg
from django.db.backends.postgresql import base
from psycopg import errors, generators
from psycopg.abc import PQGen, Query
from psycopg.adapt import Transformer
from psycopg.pq import ExecStatus

from commerce.tenancy.statements import Parameters, Prepared

_FAILED = {ExecStatus.FATAL_ERROR, ExecStatus.NONFATAL_ERROR, ExecStatus.BAD_RESPONSE}


class ScopedConnection(psycopg.Connection[Any]):
    """A connection in autocommit mode, on which Django's transactions begin as late as possible.

    Overrides two methods that psycopg doesn't document, `_start_query` and `_deallocate`. Tests notice if it no longer
    calls them.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The settings of the open transaction, as SQL; None while no transaction is open.
        self._settings: bytes | None = None
        # Whether BEGIN has still to be sent.
        self._has_to_begin = False
        # The names under which this connection has prepared its statements.
        self._names: dict[Prepared, bytes] = {}
        self._named = 0

    def open_transaction(self, settings: str) -> None:
        """Begin a transaction with the next statement. `settings` are `SET LOCAL` statements, or nothing."""
        self._settings, self._has_to_begin = settings.encode(), True

    def close_transaction(self) -> None:
        """Forget a transaction that was committed, rolled back, or never sent."""
        self._settings, self._has_to_begin = None, False

    @property
    def autocommit(self) -> bool:
        """Whether the next statement commits by itself."""
        return self._settings is None and self._autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        self.set_autocommit(value)

    def _take_opening(self) -> bytes:
        if not self._has_to_begin:
            return b""
        self._has_to_begin = False
        return b"BEGIN; " + self._settings if self._settings else b"BEGIN"

    def _start_query(self) -> PQGen[None]:
        """Called before everything that a cursor sends."""
        if opening := self._take_opening():
            self._check_connection_ok()
            self.pgconn.send_query(opening)
            for result in (yield from generators.execute(self.pgconn)):
                if result.status in _FAILED:
                    raise errors.error_from_result(result)
        yield from super()._start_query()

    def _deallocate(self, name: bytes | None) -> PQGen[None]:
        """Called to forget statements that psycopg has prepared. It forgets all after each rollback, ours included."""
        if name is None:
            self.forget_statements()
        yield from super()._deallocate(name)

    def forget_statements(self) -> None:
        self._names.clear()

    def message_for(self, statement: Prepared, parameters: Parameters) -> bytes:
        """What to send to run the statement: prepare it if it isn't yet, open the transaction, execute."""
        parts = []
        name = self._names.get(statement)
        if name is None:
            # Never reused: whether a message that failed had prepared its statement isn't known.
            self._named += 1
            name = f"commerce_{self._named}".encode()
            parts.append(b"PREPARE %b AS %b" % (name, statement.sql))
        if statement.reads and self._has_to_begin:
            parts.append(self._settings or b"")
        else:
            parts.append(self._take_opening())
        literals = Transformer.from_context(self)
        arguments = b", ".join(map(literals.as_literal, statement.values(parameters)))
        parts.append(b"EXECUTE %b(%b)" % (name, arguments) if arguments else b"EXECUTE %b" % name)
        return b"; ".join(filter(None, parts))

    def keep_name(self, statement: Prepared) -> None:
        """Remember that the message went through, which has prepared the statement."""
        self._names.setdefault(statement, f"commerce_{self._named}".encode())


class ScopedCursor(base.ServerBindingCursor):
    """Runs `Prepared` statements. psycopg prepares others once they are frequent, if they have parameters."""

    def execute(self, query: Query, params: Any = None, **options: Any) -> Self:
        connection = self.connection
        if isinstance(query, Prepared) and isinstance(connection, ScopedConnection):
            with connection.lock:
                connection.wait(self._send_gen(connection.message_for(query, params or ())))
            connection.keep_name(query)
            return self
        if params is None:
            # Several statements in one string can't be prepared, and texts such as SET LOCAL differ by account.
            options["prepare"] = False
        return super().execute(query, params, **options)

    def _send_gen(self, message: bytes) -> PQGen[None]:
        """Send a message, and select the result of its last statement, which is EXECUTE.

        psycopg's own `execute` would also count the message, which is never the same, among the frequent statements.
        """
        self._reset()
        self._tx = Transformer(self)
        self._pgconn.send_query(message)
        results = yield from generators.execute(self._pgconn)
        self._check_results(results)
        self._set_results(results[-1:])
