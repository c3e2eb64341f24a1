"""A span for each message to PostgreSQL, with what its statements do and to which tables, without any value."""

import re
from collections.abc import Callable
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from opentelemetry.trace import SpanKind

from commerce.tenancy.scope import account_in_scope
from config.telemetry.traces import ACCOUNT, find_outer_span, get_tracer, note_error

_SUMMARY = re.compile(
    r"\b(SELECT)\b.*?\bFROM\s+\"?(\w+)|\b(INSERT)\s+INTO\s+\"?(\w+)|\b(UPDATE)\s+(?:ONLY\s+)?\"?(\w+)"
    r"|\b(DELETE)\s+FROM\s+\"?(\w+)",
    re.IGNORECASE | re.DOTALL,
)


def watch_statements(connection: BaseDatabaseWrapper, **kwargs: object) -> None:
    """Called for each connection that Django opens or takes from its pool."""
    if _trace not in connection.execute_wrappers:
        connection.execute_wrappers.append(_trace)


def _trace(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    outer = find_outer_span()
    if outer is None:
        return execute(sql, params, many, context)
    account_id = account_in_scope()
    # The message's text has placeholders where the values are, but a part of it is enough to find the statement.
    name = summarise(str(sql))
    with get_tracer().start_as_current_span(
        name, kind=SpanKind.CLIENT, record_exception=False, set_status_on_exception=False
    ) as span:
        span.set_attribute("db.system.name", "postgresql")
        span.set_attribute("db.query.summary", name)
        if account_id is not None:
            span.set_attribute(ACCOUNT, str(account_id))
            outer.set_attribute(ACCOUNT, str(account_id))
        try:
            return execute(sql, params, many, context)
        except Exception as error:
            note_error(span, type(error).__qualname__)
            raise


def summarise(sql: str) -> str:
    """Name what the first statement does and to which table, such as `SELECT carts`; else its first word."""
    if found := _SUMMARY.search(sql):
        verb, table = [part for part in found.groups() if part]
        return f"{verb.upper()} {table.lower()}"
    words = sql.split(maxsplit=1)
    return words[0].upper() if words and words[0].isalpha() else "SQL"
