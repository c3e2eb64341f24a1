"""Statements that are run often."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Self

Parameters = Sequence[Any] | Mapping[str, Any]

_PLACEHOLDER = re.compile(r"%(?:s|\((\w+)\)s|%)")


class Prepared(str):  # noqa: SLOT000  str has no room for slots that aren't empty
    """The text of a statement, with psycopg's placeholders. Each connection prepares it once, when it first runs it.

    It is sent in one message with the statements that open its transaction. `reads` says that it neither writes nor
    locks. Each statement sees a snapshot of its own under READ COMMITTED, so the reads of a scope that has done nothing
    else yet need no BEGIN and COMMIT: each is a transaction of its own.
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
        if name and name in self.names:
            return f"${self.names.index(name) + 1}"
        self.names.append(name)
        return f"${len(self.names)}"

    def values(self, parameters: Parameters) -> list[Any]:
        """The parameters in the order of the numbers."""
        if isinstance(parameters, Mapping):
            return [parameters[name] for name in self.names]
        return list(parameters)
