"""Pages of lists: requests give `limit` and `cursor_id`, answers `next_cursor_id`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    Count,
    F,
    Model,
    OrderBy,
    Q,
    QuerySet,
    Sum,
    Window,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import RowNumber
from django.http import QueryDict

from commerce.arrays import IsAnyOf
from commerce.errors import ValidationFailed
from commerce.formats import parse_id
from commerce.sizes import KIB, BytesOf, long_columns

DEFAULT_LIMIT = 50
MAX_LIMIT = 250
# The largest number that `parse_id` reads.
MAX_CURSOR = 10**18 - 1
# Of the texts and JSON of a page's rows. Otherwise 250 large rows would take hundreds of megabytes.
MAX_PAGE_BYTES = 4 * 1024 * KIB

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
    number = parse_id(text)
    if number is None or number < 1:
        raise ValidationFailed.of(name, "invalid", "Must be an integer of at least 1.")
    return number


@dataclass(frozen=True, slots=True)
class Page(Generic[M]):
    rows: list[M]
    next_cursor_id: int | None

    def answer(self, name: str, shape: Callable[[M], object]) -> dict[str, object]:
        """A page as an answer: the rows under their plural name, and the cursor of the next page."""
        cursor = None if self.next_cursor_id is None else str(self.next_cursor_id)
        return {name: [shape(row) for row in self.rows], "next_cursor_id": cursor}


def newest_first(rows: QuerySet[M], cursor: Cursor, *, related_bytes: Combinable | None = None) -> Page[M]:
    """One page of a queryset by falling id, in one statement. `related_bytes` is as in `page_of`."""
    # By id instead of offset: rows that are added meanwhile don't shift pages, and late pages aren't slower.
    if cursor.after_id is not None:
        rows = rows.filter(pk__lt=cursor.after_id)
    return page_of(rows, cursor, order=F("pk").desc(), related_bytes=related_bytes)


def oldest_first(rows: QuerySet[M], cursor: Cursor) -> Page[M]:
    """One page of a queryset by rising id, for feeds that clients poll."""
    if cursor.after_id is not None:
        rows = rows.filter(pk__gt=cursor.after_id)
    return page_of(rows, cursor, order=F("pk").asc())


def page_of(
    rows: QuerySet[M], cursor: Cursor, *, order: OrderBy, related_bytes: Combinable | None = None
) -> Page[M]:
    """The first rows of a queryset that is already filtered by the cursor: at most `MAX_PAGE_BYTES`, but at least one.

    `related_bytes` is the size of what is prefetched for a row.
    """
    untyped: Any = rows
    if untyped._prefetch_related_lookups and related_bytes is None:  # noqa: SLF001  Django has no other name for it
        raise ValueError("A list that prefetches rows needs their size.")
    columns = long_columns(rows)
    sizes: list[Any] = [BytesOf(*columns)] if columns else []
    if related_bytes is not None:
        sizes.append(related_bytes)
    # One row more tells whether there is another page, without counting.
    candidates = rows.order_by(order)[: cursor.limit + 1]
    if not sizes:
        found: list[Any] = list(candidates)
        return _cut(found, cursor.limit, candidates=len(found))
    # The database adds up the sizes, so that rows that don't fit never leave it.
    size = sum(sizes[1:], start=sizes[0])
    is_candidate = IsAnyOf(F("pk"), ArraySubquery(candidates.values("pk")))
    weighed = rows.filter(is_candidate).annotate(page_candidates=Window(Count("*")))
    weighed = weighed.alias(
        place=Window(RowNumber(), order_by=order), bytes_so_far=Window(Sum(size), order_by=order)
    )
    found = list(weighed.filter(Q(place=1) | Q(bytes_so_far__lte=MAX_PAGE_BYTES)).order_by(order))
    return _cut(found, cursor.limit, candidates=found[0].page_candidates if found else 0)


def _cut(found: list[M], limit: int, *, candidates: int) -> Page[M]:
    shown = found[:limit]
    return Page(rows=shown, next_cursor_id=shown[-1].pk if candidates > len(shown) else None)
