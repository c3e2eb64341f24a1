"""Cursor pages: newest first, `limit` and `cursor_id` in, `next_cursor_id` out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict

from commerce.errors import ValidationFailed

DEFAULT_LIMIT = 50
MAX_LIMIT = 250

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page starts (exclusive) and how many rows it has."""

    limit: int = DEFAULT_LIMIT
    after_id: int | None = None

    @classmethod
    def from_query(cls, query: QueryDict) -> "Cursor":
        """Read `limit` (clamped to 250) and `cursor_id`; raises `ValidationFailed` for anything else."""
        limit = _read_integer(query, "limit", DEFAULT_LIMIT)
        after_id = _read_integer(query, "cursor_id", None)
        return cls(limit=min(limit or DEFAULT_LIMIT, MAX_LIMIT), after_id=after_id)


def _read_integer(query: QueryDict, name: str, default: int | None) -> int | None:
    text = query.get(name)
    if text is None:
        return default
    # Digits of other scripts are digits for Python. 18 of them fit into PostgreSQL's bigint.
    if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) < 1:
        raise ValidationFailed.of(name, "invalid", "Must be an integer of at least 1.")
    return int(text)


@dataclass(frozen=True, slots=True)
class Page(Generic[M]):
    rows: list[M]
    next_cursor_id: int | None

    def answer(self, name: str, shape: Callable[[M], object]) -> dict[str, object]:
        """A page as an answer: the rows under their plural name, and the cursor of the next page."""
        cursor = None if self.next_cursor_id is None else str(self.next_cursor_id)
        return {name: [shape(row) for row in self.rows], "next_cursor_id": cursor}


def newest_first(rows: QuerySet[M], cursor: Cursor) -> Page[M]:
    """One page of a queryset by falling id, in one statement."""
    # After an id instead of an offset: rows that are added meanwhile shift no page, and late pages aren't slower.
    if cursor.after_id is not None:
        rows = rows.filter(pk__lt=cursor.after_id)
    return page_of(rows.order_by("-pk"), cursor)


def oldest_first(rows: QuerySet[M], cursor: Cursor) -> Page[M]:
    """One page of a queryset by rising id, for feeds that clients poll."""
    if cursor.after_id is not None:
        rows = rows.filter(pk__gt=cursor.after_id)
    return page_of(rows.order_by("pk"), cursor)


def page_of(rows: QuerySet[M], cursor: Cursor) -> Page[M]:
    """The first rows of a queryset that is already filtered by the cursor and ordered."""
    # One row more tells whether there is another page, without counting.
    found = list(rows[: cursor.limit + 1])
    shown = found[: cursor.limit]
    return Page(rows=shown, next_cursor_id=shown[-1].pk if len(found) > len(shown) else None)
