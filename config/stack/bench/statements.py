"""Counts the SQL statements of the measured requests, in a separate process.

It loads Django, unlike the rest of this package, so it is started with the stack's environment.
"""

import json
import sys
from contextlib import suppress
from typing import Any

from config.stack.bench.messages import Answer, Request
from config.stack.bench.shop import Shop
from config.stack.bench.shopping import Shopping, one_of_each


def main() -> None:
    """Read a shop from standard input, and write each operation's number of statements to standard output."""
    import django

    django.setup()
    shopping = Shopping(Shop(**json.load(sys.stdin)), host="localhost")
    # The first round fills the process's caches and isn't counted.
    count_statements(shopping)
    json.dump(count_statements(shopping), sys.stdout)


def count_statements(shopping: Shopping) -> dict[str, int]:
    """Count the statements of each operation. BEGIN and COMMIT are left out: every request but /healthz has them."""
    counts: dict[str, int] = {}
    client = one_of_each(shopping)
    request = next(client)
    with suppress(StopIteration):
        while True:
            answer, counts[request.operation] = _send(request)
            request = client.send(answer)
    return counts


def _send(request: Request) -> tuple[Answer, int]:
    """Return the answer and the number of its statements."""
    from django.db import connection
    from django.test import Client

    from commerce.tenancy.statements import Message

    statements = 0

    def count(execute: Any, sql: str, *args: Any) -> object:
        nonlocal statements
        statements += len(sql.calls) if isinstance(sql, Message) else 1
        return execute(sql, *args)

    with connection.execute_wrapper(count):
        response = Client().generic(
            request.method,
            request.path,
            request.body,
            content_type="application/json",
            headers=dict(request.headers),
        )
    if response.status_code >= 300:
        raise SystemExit(f"{request.operation}: {response.status_code} {response.content.decode()}")
    return Answer(response.status_code, response.content), statements


if __name__ == "__main__":
    main()
