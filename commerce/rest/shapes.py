"""The base classes of request bodies and answers."""

from datetime import datetime
from functools import cache
from typing import Any, ClassVar

from rest_framework import serializers

from commerce.formats import timestamp


class TimestampField(serializers.DateTimeField):
    def to_representation(self, value: datetime) -> str | None:  # type: ignore[override]
        return timestamp(value)


# No docstrings on the base classes: the OpenAPI document would inherit them for schemas that have none.


class Shape(serializers.Serializer):
    # Another shape, or its name in the same module. Fields without a `help_text` take that of its field with their name.
    described_by: ClassVar["type[Shape] | str | None"] = None


class Output(Shape):  # the shape of an answer: serialises models, and describes the answer
    @classmethod
    def of(cls, row: object) -> dict[str, Any]:
        """Serialise a row or another object. Not for shapes that read a context, which all rows would share."""
        return _make(cls).to_representation(row)


class Input(Shape):  # what a request may say; other fields are unknown (unknown_fields.py)
    # Fields that it knows in order to refuse them with a code of their own.
    refused_fields: ClassVar[frozenset[str]] = frozenset()


@cache
def _make(shape: type[Output]) -> Output:
    """Make the serializer for all rows. A new one for each would copy its fields, which takes most of the time of a list."""
    return shape()
