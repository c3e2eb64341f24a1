"""Size limits in bytes: of request bodies, and of columns whose type has none, which the database enforces."""

from django.db import models
from django.db.models.functions import Cast
from django.db.models.lookups import LessThanOrEqual

KIB = 1024
# Of a request's body.
MAX_BODY_BYTES = 1024 * KIB


def at_most_bytes(column: str, max_bytes: int, *, name: str) -> models.CheckConstraint:
    """A constraint: the column takes at most this many bytes as UTF-8 text.

    PostgreSQL adds spaces to JSON, which count.
    """
    size = models.Func(
        Cast(column, models.TextField()), function="octet_length", output_field=models.IntegerField()
    )
    return models.CheckConstraint(condition=LessThanOrEqual(size, max_bytes), name=name)
