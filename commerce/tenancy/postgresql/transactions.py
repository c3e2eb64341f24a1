from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import cast

from django.db import connections, transaction

from .base import DatabaseWrapper


@contextmanager
def transaction_beginning_with(settings: list[str]) -> Iterator[None]:
    """The outermost transaction of the serving role's connection, with `SET LOCAL` statements in its first message."""
    wrapper = cast("DatabaseWrapper", connections["default"])
    with ExitStack() as stack:
        wrapper.next_settings = settings
        try:
            stack.enter_context(transaction.atomic(durable=True))
        finally:
            # Also if the database can't be reached: otherwise the next transaction would begin with this account.
            wrapper.next_settings = []
        yield
