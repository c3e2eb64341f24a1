"""What all queries share."""

from typing import TypeVar

from django.db.models import Manager, Model, QuerySet

from commerce.errors import NotFound

M = TypeVar("M", bound=Model)


def get_or_not_found(rows: QuerySet[M] | Manager[M], **lookup: object) -> M:
    """The first row that matches; raises `NotFound`."""
    row = rows.filter(**lookup).first()
    if row is None:
        raise NotFound
    return row
