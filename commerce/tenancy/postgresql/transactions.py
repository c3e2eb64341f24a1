from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from django.db import connections, transaction

from .base import DatabaseWrapper


@contextmanager
def transaction_beginning_with(settings: list[str]) -> Iterator[None]:
    """The outermost transaction of the serving role's connection, with `SET LOCAL` statements in its first message."""
    wrapper = cast("DatabaseWrapper", connections["default"])
    wrapper.next_settings = settings
    with transaction.atomic(durable=True):
        wrapper.next_settings = []
        yield
