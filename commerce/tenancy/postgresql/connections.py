"""psycopg's connection and cursor, with fewer round trips: docs/decisions/0011."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, Self, cast

import psycopg
from django.db.backends.postgresql import base
from psycopg import errors, generators
from psycopg.abc import Buffer, PQGen, Query
from psycopg.adapt import AdaptersMap, Loader, PyFormat, Transformer
from psycopg.pq import ExecStatus, Format, PipelineStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from commerce.tenancy.statements import Call, Message, Prepared, Result, plans_anew

_FAILED = {ExecStatus.FATAL_ERROR, ExecStatus.NONFATAL_ERROR, ExecStatus.BAD_RESPONSE}

# What a prepared statement fails with for ever: a migration has changed the type of a column that it returns, or something
# else has deallocated it.
_STALE = (errors.FeatureNotSupported, errors.InvalidSqlStatementName)

_TIMES = cast(
    "type[Loader]", psycopg.adapters.get_loader(psycopg.postgres.types["timestamptz"].oid, Format.TEXT)
)


# Sends one part of a message: a statement, or the text of one to prepare.
Part = Callable[[], None]


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
        # What is sent before anything else, in the same message. Each with its parameters.
        self._posted: list[tuple[Prepared, Sequence[Buffer | None]]] = []
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
        """Send the calls in the next message, or with COMMIT. Their values are written now, so that they can't fail then."""
        self._posted += [(statement, self._write(statement, values)) for statement, values in calls]

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
        self._require_idle()
        if self._posted:
            yield from self.run_gen([])
        elif opening := self._take_opening():
            yield from self._exchange(self._texts(opening))
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
    def _dump(self) -> Callable[[Sequence[Any], Sequence[PyFormat]], Sequence[Buffer | None]]:
        """Kept, because a new one finds out again how to write each type, which takes longer than writing a value."""
        return Transformer.from_context(self).dump_sequence

    def _write(self, statement: Prepared, values: Sequence[Any]) -> Sequence[Buffer | None]:
        """Write the values as texts, which PostgreSQL reads by the types that it infers for the parameters.

        Raises `ValueError` if their number is wrong, and whatever psycopg raises for values that it can't write.
        """
        if len(values) != len(statement.names):
            raise ValueError(f"The statement has {len(statement.names)} parameters, not {len(values)}.")
        return self._dump(values, [PyFormat.TEXT] * len(values))

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

    def run_gen(self, calls: Sequence[Call], *, last: Sequence[bytes] = ()) -> PQGen[list[PGresult]]:
        """Run the calls in one message, which also prepares and opens what has to be, and sends what was posted.

        Return the results of the calls.
        """
        # Written before anything changes: a value that can't be written then leaves the transaction as it was.
        written = [(statement, self._write(statement, values)) for statement, values in calls]
        posted, self._posted = self._posted, []
        written = [*posted, *written]
        has_to_begin, is_first = self._has_to_begin, not self.is_in_transaction
        try:
            results = yield from self._run_written(written, last)
        except _STALE:
            self.forget_statements()
            # Nothing else of the transaction has been sent, so all of it can be sent again.
            if not is_first:
                raise
            if self.is_in_transaction:
                yield from self._exchange(self._texts([b"ROLLBACK"]))
            self._has_to_begin = has_to_begin
            results = yield from self._run_written(written, last)
        return results[len(posted) : len(written)]

    def _run_written(
        self, written: Sequence[tuple[Prepared, Sequence[Buffer | None]]], last: Sequence[bytes]
    ) -> PQGen[list[PGresult]]:
        """Run statements with their parameters, and then texts. Return the results of both."""
        new = self._name_new(statement for statement, _ in written)
        is_reading = self._has_to_begin and all(statement.reads for statement, _ in written)
        opening = [b"BEGIN", *self._settings] if is_reading else self._take_opening()
        parts: list[Part] = [
            partial(self.pgconn.send_prepare, name, statement.sql) for statement, name in new.items()
        ]
        parts += self._texts(opening)
        results_before = len(parts)
        names = self._names | new if new else self._names
        parts += [
            partial(self.pgconn.send_query_prepared, names[statement], values)
            if self.prepare_threshold is not None
            else partial(self.pgconn.send_query_params, statement.sql, values)
            for statement, values in written
        ]
        if not is_reading:
            results = yield from self._exchange([*parts, *self._texts(last)])
        else:
            results = yield from self._read(parts)
        self._names.update(new)
        return results[results_before:]

    def _read(self, parts: Sequence[Part]) -> PQGen[list[PGresult]]:
        """Run a transaction that only reads. It ends with its message, whether it fails or not."""
        try:
            return (yield from self._exchange([*parts, *self._texts([b"COMMIT"])]))
        except psycopg.Error:
            if self.is_in_transaction:
                yield from self._exchange(self._texts([b"ROLLBACK"]))
            raise

    def _texts(self, statements: Iterable[bytes]) -> list[Part]:
        return [partial(self.pgconn.send_query_params, statement, None) for statement in statements]

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

    def _exchange(self, parts: Sequence[Part]) -> PQGen[list[PGresult]]:
        """Send the parts in one message. Raises if one of them fails, which undoes all of them."""
        self._require_idle()
        self.pgconn.enter_pipeline_mode()
        try:
            for send in parts:
                send()
            self.pgconn.pipeline_sync()
            yield from generators.send(self.pgconn)
            results = yield from self._fetch()
        finally:
            self._leave_message()
        for result in results:
            if result.status in _FAILED:
                raise errors.error_from_result(result, encoding=self.pgconn._encoding)  # noqa: SLF001
        return results

    def _leave_message(self) -> None:
        try:
            self.pgconn.exit_pipeline_mode()
        except psycopg.OperationalError:
            # It was lost, or an exception came while it waited. What comes next would read the rest of the results as its
            # own, even for another account.
            self.pgconn.finish()

    def _require_idle(self) -> None:
        """Raise `OperationalError` if the connection is closed, or an exception has left a message unread."""
        if self.pgconn.pipeline_status != PipelineStatus.OFF:
            self._leave_message()
        self._check_connection_ok()

    def _fetch(self) -> PQGen[list[PGresult]]:
        """Read the results of all parts, up to the end of the message. Raises if the connection ends before."""
        results: list[PGresult] = []
        has_ended = False
        while True:
            # Most are there at once, and then need no generator.
            found = (
                (yield from generators.fetch(self.pgconn))
                if self.pgconn.is_busy()
                else self.pgconn.get_result()
            )
            if found is None:
                # Nothing follows the result of each part. After the end of the connection, nothing follows at all.
                if not has_ended:
                    has_ended = True
                    continue
                # The last result may tell why.
                if results and results[-1].status in _FAILED:
                    return results
                raise psycopg.OperationalError(self.pgconn.get_error_message())
            if found.status == ExecStatus.PIPELINE_SYNC:
                return results
            has_ended = False
            results.append(found)


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
