"""Checks every statement that the product sends during the test run against a few rules."""

import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from commerce.tenancy.statements import Message
from tests.tenancy import locking, ownership, reading, sharding

# Gets a statement and the frame that sent it; answers with what is wrong. Fast for statements that are fine.
Rule = Callable[[str, FrameType], Iterable[str]]

RULES: tuple[Rule, ...] = (sharding.check, ownership.check, reading.check, locking.check)


def statements_of(sql: str) -> list[str]:
    """The statements of a message, or the text itself."""
    return [call.statement for call in sql.calls] if isinstance(sql, Message) else [sql]


class Watch:
    """Collects what the product's statements do wrong, over every connection that it is installed on."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules or RULES
        self.found: list[str] = []

    def install(self, connection: Any, **kwargs: Any) -> None:
        if self not in connection.execute_wrappers:
            connection.execute_wrappers.append(self)

    def __call__(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
        if isinstance(sql, str):
            frame = sys._getframe(1)
            for statement in statements_of(sql):
                self.found += [
                    f"{problem}: {statement}" for rule in self.rules for problem in rule(statement, frame)
                ]
        return execute(sql, params, many, context)
