"""References between account-owned tables."""

from typing import Any

from django.db import models
from django.db.models.lookups import Exact


class AccountForeignKey(models.ForeignKey):
    """A reference to a row of the same account.

    In the database it is the composite key `(account_id, x_id) -> (account_id, id)`, which
    `IsolateByAccount` creates: a plain foreign key ignores row-level security and would let one
    account refer to another's invisible row. Joins compare `account_id` as well, so that a
    distributed PostgreSQL keeps them on one shard.
    """

    def __init__(self, to: Any, on_delete: Any = models.DO_NOTHING, **kwargs: Any) -> None:
        # `IsolateByAccount` makes the constraint. An index has to begin with the account, so models declare their own.
        kwargs["db_constraint"] = False
        kwargs["db_index"] = False
        super().__init__(to, on_delete, **kwargs)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, path, args, kwargs = super().deconstruct()
        # The constructor sets them again.
        del kwargs["db_constraint"], kwargs["db_index"]
        return name, path, args, kwargs

    def get_extra_restriction(self, alias: str | None, related_alias: str | None) -> Any:
        """`alias` is the referenced table, `related_alias` the one with this column."""
        if alias is None or related_alias is None:
            return None
        referred: Any = self.remote_field.model._meta.get_field("account")
        holding: Any = self.model._meta.get_field("account")
        return Exact(referred.get_col(alias), holding.get_col(related_alias))
