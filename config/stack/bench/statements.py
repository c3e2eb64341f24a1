"""Counts the SQL statements of the measured requests, in a separate process.

It loads Django, unlike the rest of this package, so it is started with the stack's environment.
"""

import json
import sys
from contextlib import suppress
from typing import Any

from .shop import Shop
from .shopping import Shopping, one_of_each


def main() -> None:
    """Read a shop from standard input, and write each operation's number of statements to standard output."""
    shopping = Shopping(Shop(**json.load(sys.stdin)), host="localhost")
    # The first round fills the process's caches and isn't counted.
    count_statements(shopping)
    json.dump(count_statements(shopping), sys.stdout)


def count_statements(shopping: Shopping) -> dict[str, int]:
    """Count the statements of each operation. BEGIN and COMMIT are left out, which most requests have."""
    # Sets Django up, so it comes first.
    from .in_process import send  # isort: skip
    from django.db import connection

    from commerce.tenancy.statements import Message

    statements = 0

    def count(execute: Any, sql: str, *args: Any) -> object:
        nonlocal statements
        statements += len(sql.calls) if isinstance(sql, Message) else 1
        return execute(sql, *args)

    counts: dict[str, int] = {}
    client = one_of_each(shopping)
    request = next(client)
    with connection.execute_wrapper(count), suppress(StopIteration):
        while True:
            statements = 0
            answer = send(request)
            counts[request.operation] = statements
            request = client.send(answer)
    return counts


if __name__ == "__main__":
    main()
