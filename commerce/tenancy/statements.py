"""Statements that run often: each connection prepares them once, and sends them in as few messages as possible."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from django.db import DEFAULT_DB_ALIAS, connections

if TYPE_CHECKING:
    from commerce.tenancy.postgresql.base import DatabaseWrapper

Parameters = Sequence[Any] | Mapping[str, Any]

_PLACEHOLDER = re.compile(r"%(?:s|\((\w+)\)s|%)")


class Prepared(str):  # noqa: SLOT000  str has no room for slots that aren't empty
    """The text of a statement, with psycopg's placeholders, for `cursor.execute()` or `send()`.

    It is sent together with the statements that open its transaction. `reads` says that it neither writes nor locks.
    Each statement sees a snapshot of its own under READ COMMITTED, so the reads of a scope that has done nothing else
    yet need no BEGIN and COMMIT: each is a transaction of its own.
    """

    # In the form of PREPARE, with numbered parameters, and their names. An unnamed one has the name "".
    sql: bytes
    names: list[str]
    reads: bool

    def __new__(cls, text: str, *, reads: bool = False) -> Self:
        statement = super().__new__(cls, text)
        statement.names = []
        statement.sql = _PLACEHOLDER.sub(statement._number, text).encode()
        statement.reads = reads
        return statement

    def _number(self, found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        name = found[1] or ""
        if not name or name not in self.names:
            self.names.append(name)
            return f"${len(self.names)}"
        return f"${self.names.index(name) + 1}"

    def call(self, parameters: Parameters = ()) -> "Call":
        """The statement with its parameters in the order of their numbers."""
        if isinstance(parameters, Mapping):
            return Call(self, [parameters[name] for name in self.names])
        return Call(self, parameters)


class Call(NamedTuple):
    statement: Prepared
    values: Sequence[Any]


class Message(str):  # noqa: SLOT000  as above
    """Calls to send together. As a text, the statements one after another.

    Nothing is returned for calls that `may_wait`. They are sent with the next message.
    """

    calls: Sequence[Call]
    may_wait: bool

    def __new__(cls, calls: Sequence[Call], *, may_wait: bool = False) -> Self:
        message = super().__new__(cls, ";".join(call.statement for call in calls))
        message.calls = calls
        message.may_wait = may_wait
        return message


class Result(NamedTuple):
    """`row_count` is the number of rows that were written or returned."""

    rows: list[tuple[Any, ...]]
    row_count: int


def send(*calls: Call) -> list[Result]:
    """Run the statements in one message, in order. Each sees what those before it wrote."""
    return _get_connection().run(calls) if calls else []


def post(*calls: Call) -> None:
    """Run the statements before whatever the transaction sends next, in the same message, which may be COMMIT.

    For writes whose result nobody needs. Raises nothing: if a statement fails, what comes next raises its error, and at
    the latest the end of the transaction. Outside of a transaction they are run at once.
    """
    _get_connection().run(calls, may_wait=True)


# Whether statements that aren't `Prepared` are planned anew each time.
_plans_anew: ContextVar[bool] = ContextVar("plans_anew", default=False)


@contextmanager
def planning_anew() -> Iterator[None]:
    """Have each statement planned for its values, unless it is `Prepared`.

    A frequent one would get a plan for any values. If one account has nearly all rows of a table, that plan may read the
    whole table, also for an account with few rows.
    """
    token = _plans_anew.set(True)
    try:
        yield
    finally:
        _plans_anew.reset(token)


def plans_anew() -> bool:
    """Whether this is inside of `planning_anew`."""
    return _plans_anew.get()


def _get_connection() -> "DatabaseWrapper":
    return cast("DatabaseWrapper", connections[DEFAULT_DB_ALIAS])
