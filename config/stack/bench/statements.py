"""Counts SQL statements: the requests that are measured, through the same code, in a process of its own.

It is started with the stack's environment, since it loads the product, which the rest of the stack doesn't.
"""

import json
import sys
from contextlib import suppress
from typing import Any

from config.stack.bench.messages import Answer, Request
from config.stack.bench.shop import Shop
from config.stack.bench.shopping import Shopping, one_of_each


def main() -> None:
    """Read a shop from standard input; write the number of statements of each operation."""
    import django

    django.setup()
    shopping = Shopping(Shop(**json.load(sys.stdin)), host="localhost")
    # Once to warm up: what is cached in a process doesn't count.
    count_statements(shopping)
    json.dump(count_statements(shopping), sys.stdout)


def count_statements(shopping: Shopping) -> dict[str, int]:
    """Statements by operation; BEGIN and COMMIT, which belong to every request but /healthz, are left out."""
    counts: dict[str, int] = {}
    client = one_of_each(shopping)
    request = next(client)
    with suppress(StopIteration):
        while True:
            answer, counts[request.operation] = _answered(request)
            request = client.send(answer)
    return counts


def _answered(request: Request) -> tuple[Answer, int]:
    """The answer, and how many statements it took."""
    from django.db import connection
    from django.test import Client

    statements = 0

    def counted(execute: Any, *args: Any) -> Any:
        nonlocal statements
        statements += 1
        return execute(*args)

    with connection.execute_wrapper(counted):
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
