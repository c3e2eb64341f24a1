"""Searches for the beginning of a text that use an index.

PostgreSQL checks a table's policy before all other conditions, except those that can't reveal anything about hidden
rows: their operators are called leakproof. `LIKE` and `upper()` aren't leakproof, so on a table with a policy they never
use an index. `^@` is: with an index by `varchar_pattern_ops` it finds a beginning whatever the database's collation.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, F, Index, Lookup, Model, QuerySet, TextField
from django.db.models.sql.compiler import SQLCompiler

from commerce.arrays import IsAnyOf

# The most rows found by one spelling in one field. Nobody reads more: it is quicker to type another letter.
MOST_FOUND = 1000


@CharField.register_lookup
@TextField.register_lookup
class Prefix(Lookup):
    """`name__prefix="An"`: the text begins with these characters."""

    lookup_name = "prefix"

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        return f"{left} ^@ {right}", (*left_params, *right_params)


def prefix_index(field: str, *, name: str) -> Index:
    """An index that finds the account's rows by the beginning of a `CharField`."""
    return Index(fields=["account", field], opclasses=["int8_ops", "varchar_pattern_ops"], name=name)


def list_spellings(text: str) -> list[str]:
    """Return the ways in which a name is usually written, as an index compares case: `ann`, `Ann`, `ANN`."""
    return list(dict.fromkeys([text, text.lower(), text.upper(), text.title(), text[:1].upper() + text[1:]]))


def find_by_prefix(rows: QuerySet, fields: Iterable[str], text: str) -> QuerySet:
    """Return the rows in which one of the fields begins with the text, in one of its usual spellings.

    Fields of other tables are given by their path, such as `variant__sku`. At most `MOST_FOUND` rows are found for each
    field and spelling. Each has a statement of its own, which stops there: a condition with OR would first find all, and
    one on several tables would use no index.
    """
    model: type[Model] = rows.model
    parts = [_find_by_field(model, field, spelling) for field in fields for spelling in list_spellings(text)]
    found = parts[0].union(*parts[1:], all=True) if len(parts) > 1 else parts[0]
    return rows.filter(IsAnyOf(F("pk"), ArraySubquery(found)))


def _find_by_field(model: type[Model], path: str, spelling: str) -> QuerySet:
    reference, _, rest = path.partition("__")
    if not rest:
        found = model._default_manager.filter(**{f"{reference}__prefix": spelling})
    else:
        target: Any = model._meta.get_field(reference).related_model
        is_found = IsAnyOf(F(reference), ArraySubquery(_find_by_field(target, rest, spelling)))
        found = model._default_manager.filter(is_found)
    return found.order_by().values("pk")[:MOST_FOUND]
