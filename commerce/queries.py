"""What all queries share."""

from typing import TypeVar

from django.db.models import Aggregate, Count, Manager, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from commerce.errors import NotFound

M = TypeVar("M", bound=Model)


def get_or_not_found(rows: QuerySet[M] | Manager[M], **lookup: object) -> M:
    """The first row that matches; raises `NotFound`."""
    row = rows.filter(**lookup).first()
    if row is None:
        raise NotFound
    return row


def sum_up(rows: QuerySet, reference: str, aggregate: Aggregate | None = None) -> Coalesce:
    """Aggregate, for each row of a list, the `rows` that refer to it: by default their count; 0 for none.

    A subquery, because Django's own annotation groups by the id alone, only a part of the composite primary key.
    """
    # Without ordering, whose columns would be added to the GROUP BY.
    grouped = rows.filter(**{reference: OuterRef("pk")}).order_by().values(reference)
    return Coalesce(Subquery(grouped.annotate(total=aggregate or Count("pk")).values("total")), 0)
