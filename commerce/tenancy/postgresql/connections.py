"""psycopg's connection and cursor, with fewer round trips: docs/decisions/0011."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self, cast

import psycopg
from django.db.backends.postgresql import base
from psycopg import errors, generators
from psycopg.abc import PQGen, Query
from psycopg.adapt import AdaptersMap, Loader, PyFormat, Transformer
from psycopg.pq import Escaping, ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult

from commerce.tenancy.statements import Call, Message, Prepared, Result, plans_anew

_FAILED = {ExecStatus.FATAL_ERROR, ExecStatus.NONFATAL_ERROR, ExecStatus.BAD_RESPONSE}


_TIMES = cast(
    "type[Loader]", psycopg.adapters.get_loader(psycopg.postgres.types["timestamptz"].oid, Format.TEXT)
)


# Shorter texts are left to psycopg.
_LONG = 1000


def quote_long(text: str) -> bytes:
    """Quote a text as libpq does, which looks at each character. For 20 kB that takes 900,000 instructions, and this 30,000.

    Django has all connections use UTF-8, where the bytes of `'` and `\\` are no part of other characters. Raises what
    psycopg raises for texts that PostgreSQL can't store.
    """
    quoted = text.encode()
    if b"\0" in quoted:
        raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
    quoted = b"'%b'" % quoted.replace(b"'", b"''")
    return b" E%b" % quoted.replace(b"\\", b"\\\\") if b"\\" in quoted else quoted


class _Reading(NamedTuple):
    """What psycopg needs to read results: a connection, and the loaders for the types of values."""

    connection: "ScopedConnection"
    adapters: AdaptersMap


class ScopedConnection(psycopg.Connection[Any]):
    """A connection in autocommit mode, on which Django's transactions begin as late as possible.

    It prepares our statements unless psycopg's `prepare_threshold` is None, as behind a pooler in transaction mode:
    what one transaction prepares is then unknown to the next one, which may run on another connection of the server.

    Overrides three methods that psycopg doesn't document: `_start_query`, `_commit_gen` and `_deallocate`. Tests fail
    if psycopg no longer calls them.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_open = False
        # The settings of the open transaction, each as a statement.
        self._settings: list[bytes] = []
        # Whether BEGIN has still to be sent.
        self._has_to_begin = False
        # What is sent before anything else, in the same message. Each as a statement, and what `_encode` made of it.
        self._posted: list[tuple[Prepared, bytes]] = []
        # The names under which this connection has prepared its statements.
        self._names: dict[Prepared, bytes] = {}
        self._named = 0

    def open_transaction(self, settings: Iterable[str]) -> None:
        """Begin a transaction with the next statement. `settings` are `SET LOCAL` statements."""
        self._settings = [setting.encode() for setting in settings]
        self._is_open = self._has_to_begin = True

    def close_transaction(self) -> None:
        """Forget a transaction that was committed, rolled back, or never sent."""
        self._is_open = self._has_to_begin = False
        self._settings = []
        self._posted = []

    def post(self, calls: Sequence[Call]) -> None:
        """Send the calls in the next message, or with COMMIT. Their values are encoded now, so that they can't fail then."""
        self._posted += [(statement, self._encode(statement, values)) for statement, values in calls]

    def drop_posted(self) -> None:
        """Forget the calls that haven't been sent, because the transaction returns to a savepoint that was set before."""
        self._posted = []

    @property
    def is_in_transaction(self) -> bool:
        """Whether PostgreSQL knows of a transaction."""
        return self.pgconn.transaction_status in {TransactionStatus.INTRANS, TransactionStatus.INERROR}

    @property
    def has_sent_nothing(self) -> bool:
        """Whether a transaction is open of which PostgreSQL doesn't know: there is nothing to commit."""
        return self._has_to_begin and not self._posted

    @property
    def autocommit(self) -> bool:
        """Whether the next statement commits by itself."""
        return self._autocommit and not self._is_open

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        # The value rarely differs, and Django sets it twice in a request.
        if value != self._autocommit:
            self.set_autocommit(value)

    def _take_opening(self) -> list[bytes]:
        if not self._has_to_begin:
            return []
        self._has_to_begin = False
        return [b"BEGIN", *self._settings]

    def _start_query(self) -> PQGen[None]:
        """Called before everything else that a cursor sends."""
        if self._posted:
            yield from self.run_gen([])
        elif opening := self._take_opening():
            yield from self._exchange(opening)
        yield from super()._start_query()

    def _commit_gen(self) -> PQGen[None]:
        if self._posted:
            yield from self.run_gen([], last=[b"COMMIT"])
        else:
            yield from super()._commit_gen()

    def _deallocate(self, name: bytes | None) -> PQGen[None]:
        """Called when psycopg forgets prepared statements. After each rollback it forgets all, including ours."""
        if name is None:
            self.forget_statements()
        yield from super()._deallocate(name)

    def forget_statements(self) -> None:
        self._names.clear()

    @cached_property
    def _loaders(self) -> AdaptersMap:
        """Django's loaders, but psycopg's own for times, which takes a fifteenth of the time.

        Both give the same, because Django sets the time zone of sessions to that of its loader.
        """
        loaders = AdaptersMap(self.adapters)
        loaders.register_loader("timestamptz", _TIMES)
        return loaders

    @cached_property
    def _write(self) -> Callable[[Any], bytes]:
        """Kept, because a new one finds out again how to write each type, which takes longer than writing a value."""
        return Transformer.from_context(self).as_literal

    def run(self, calls: Sequence[Call]) -> list[Result]:
        """Run the calls in one message, without a cursor, which takes longer than libpq itself."""
        with self.lock:
            answers = self.wait(self.run_gen(calls))
        reading = _Reading(self, self._loaders)
        results = []
        for answer in answers:
            rows: list[tuple[Any, ...]] = []
            if answer.status == ExecStatus.TUPLES_OK:
                transformer = Transformer(reading)
                transformer.set_pgresult(answer)
                rows = transformer.load_rows(0, answer.ntuples, tuple)
            results.append(Result(rows, answer.command_tuples or 0))
        return results

    def _encode(self, statement: Prepared, values: Sequence[Any]) -> bytes:
        """Write parameters as the arguments of EXECUTE, or without preparing, the statement with its parameters.

        Raises whatever psycopg raises for values that it can't write.
        """
        if self.prepare_threshold is None:
            return self._insert(statement, values)
        literals = [
            quote_long(value) if type(value) is str and len(value) > _LONG else self._write(value)
            for value in values
        ]
        return b"(%b)" % b", ".join(literals) if literals else b""

    def _insert(self, statement: Prepared, values: Sequence[Any]) -> bytes:
        """Quote all values, numbers too: PostgreSQL infers the type of a quoted literal just like a parameter's."""
        transformer = Transformer.from_context(self)
        escaping = Escaping(self.pgconn)
        literals = []
        for value in values:
            written = None
            if value is not None:
                written = transformer.get_dumper(value, PyFormat.TEXT).dump(value)
            literals.append(b"NULL" if written is None else escaping.escape_literal(written))
        return statement.insert(literals)

    def run_gen(self, calls: Sequence[Call], *, last: Sequence[bytes] = ()) -> PQGen[list[PGresult]]:
        """Run the calls in one message, which also prepares and opens what has to be, and sends what was posted.

        Return the results of the calls.
        """
        # Encoded before anything changes: a value that can't be encoded then leaves the transaction as it was.
        encoded = [(statement, self._encode(statement, values)) for statement, values in calls]
        posted, self._posted = self._posted, []
        encoded = [*posted, *encoded]
        new = self._name_new(statement for statement, _ in encoded)
        parts = [b"PREPARE %b AS %b" % (name, statement.sql) for statement, name in new.items()]
        if self._has_to_begin and all(statement.reads for statement, _ in encoded):
            parts += self._settings
        else:
            parts += self._take_opening()
        results_before = len(parts) + len(posted)
        if self.prepare_threshold is None:
            parts += [text for _, text in encoded]
        else:
            names = self._names | new if new else self._names
            parts += [b"EXECUTE %b%b" % (names[statement], arguments) for statement, arguments in encoded]
        results = yield from self._exchange([*parts, *last])
        self._names.update(new)
        return results[results_before:]

    def _name_new(self, statements: Iterable[Prepared]) -> dict[Prepared, bytes]:
        """Name the statements that have to be prepared."""
        new: dict[Prepared, bytes] = {}
        if self.prepare_threshold is None:
            return new
        # No name is used twice, since a message that failed may or may not have prepared its statement.
        for statement in statements:
            if statement not in self._names and statement not in new:
                self._named += 1
                new[statement] = f"commerce_{self._named}".encode()
        return new

    def _exchange(self, parts: list[bytes]) -> PQGen[list[PGresult]]:
        """Send the statements in one message. Raises if one of them fails, which undoes all of them."""
        self._check_connection_ok()
        self.pgconn.send_query(b"; ".join(parts))
        results = yield from generators.execute(self.pgconn)
        for result in results:
            if result.status in _FAILED:
                raise errors.error_from_result(result, encoding=self.pgconn._encoding)  # noqa: SLF001
        return results


class ScopedCursor(base.CursorMixin, psycopg.Cursor[Any]):
    """Runs `Prepared` statements and `Message`s. psycopg prepares others once they are frequent, if they have parameters
    and aren't to be planned anew.
    """

    def execute(self, query: Query, params: Any = None, **options: Any) -> Self:
        if isinstance(query, Prepared | Message) and isinstance(self.connection, ScopedConnection):
            calls = query.calls if isinstance(query, Message) else [query.call(params or ())]
            if isinstance(query, Message) and query.may_wait and not self.connection.autocommit:
                self.connection.post(calls)
                return self
            with self.connection.lock:
                self.connection.wait(self._run_gen(self.connection, calls))
            return self
        if params is None or plans_anew():
            # Without parameters: several statements in one string can't be prepared, and texts such as SET LOCAL differ by account.
            options["prepare"] = False
        return super().execute(cast("str", query), params, **options)

    def _run_gen(self, connection: ScopedConnection, calls: Sequence[Call]) -> PQGen[None]:
        """psycopg's own `execute` would also count the texts, which are never the same, among the frequent statements."""
        self._reset()
        self._tx = Transformer(self)
        results = yield from connection.run_gen(calls)
        self._set_results(results)
