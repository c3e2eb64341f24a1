from collections.abc import Sequence
from typing import cast

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.transaction import Atomic

from .base import DatabaseWrapper


class TransactionBeginningWith(Atomic):
    """The outermost transaction of the serving role's connection, with `SET LOCAL` statements in its first message."""

    def __init__(self, settings: Sequence[str]) -> None:
        super().__init__(DEFAULT_DB_ALIAS, savepoint=True, durable=True)
        self._settings = settings

    def __enter__(self) -> None:
        wrapper = cast("DatabaseWrapper", connections[DEFAULT_DB_ALIAS])
        # An exception came while the last transaction was ending, and Django would go on in it, for its account.
        if not wrapper.get_autocommit():
            wrapper.close()
        wrapper.next_settings = self._settings
        try:
            super().__enter__()
        finally:
            # Also if the database can't be reached: otherwise the next transaction would begin with this account.
            wrapper.next_settings = []
