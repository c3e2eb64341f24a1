"""Query plans of PostgreSQL."""

from collections.abc import Callable
from typing import Any

from django.db import connection

from commerce.tenancy.statements import Message


def plan_of(work: Callable[[], object], *settings: str) -> str:
    """Return the plan of the only statement of `work`, under these planner settings (such as `enable_sort = off`)."""
    sent = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        calls = sql.calls if isinstance(sql, Message) else ()
        # Names are all empty if the placeholders have none.
        named = [(call, dict(zip(call.statement.names, call.values, strict=True))) for call in calls]
        sent.extend((call.statement, call.values if "" in by_name else by_name) for call, by_name in named)
        if not calls:
            sent.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        work()
    ((sql, params),) = sent
    with connection.cursor() as cursor:
        for setting in settings:
            cursor.execute(f"SET LOCAL {setting}")
        cursor.execute(f"EXPLAIN {sql}", params)
        return "\n".join(line for (line,) in cursor.fetchall())
