"""Output formats: ids and cents as decimal strings, timestamps ending in Z."""

from datetime import UTC, datetime
from typing import ClassVar

from rest_framework import serializers


def text_id(value: int | None) -> str | None:
    return None if value is None else str(value)


cents = text_id


def timestamp(value: datetime | None) -> str | None:
    """ISO 8601 in UTC, ending in Z, with microseconds only if there are any."""
    return None if value is None else value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


class TimestampField(serializers.DateTimeField):
    def to_representation(self, value: datetime) -> str | None:  # type: ignore[override]
        return timestamp(value)


# No docstrings on the base classes: the OpenAPI document would inherit them for schemas that have none.


class Output(serializers.Serializer):  # the shape of an answer: serialises models, and describes the answer
    pass


class Input(serializers.Serializer):  # what a request may say; other fields are unknown (unknown_fields.py)
    # Fields that it knows in order to refuse them with a code of their own.
    refused_fields: ClassVar[frozenset[str]] = frozenset()
