"""Size limits in bytes: of request bodies, and of columns whose type has none, which the database enforces."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Cast
from django.db.models.lookups import LessThanOrEqual

KIB = 1024
# Of a request's body.
MAX_BODY_BYTES = 1024 * KIB
# Columns of any length. All others of a row together are small.
_LONG = (models.TextField, models.JSONField, ArrayField)


def at_most_bytes(column: str, max_bytes: int, *, name: str) -> models.CheckConstraint:
    """A constraint: the column takes at most this many bytes as UTF-8 text.

    PostgreSQL adds spaces to JSON, which count.
    """
    return models.CheckConstraint(condition=LessThanOrEqual(_count_octets(column), max_bytes), name=name)


class BytesOf(models.Func):
    """The bytes of columns as UTF-8 text, added up; null has none."""

    # A single expression: Django copies and hashes every part of a statement many times.
    template = "(COALESCE(octet_length(%(expressions)s::text), 0))"
    arg_joiner = "::text), 0) + COALESCE(octet_length("
    output_field = models.IntegerField()


def long_columns(rows: models.QuerySet) -> list[str]:
    """The columns of any length that the queryset reads."""
    names, are_deferred = rows.query.deferred_loading
    return [
        field.name
        for field in rows.model._meta.concrete_fields
        if isinstance(field, _LONG) and (field.name in names) is not are_deferred
    ]


def _count_octets(column: str) -> models.Func:
    return models.Func(
        Cast(column, models.TextField()), function="octet_length", output_field=models.IntegerField()
    )
