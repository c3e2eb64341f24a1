"""Validates a segment's filter: the operators that each field takes, and values of its type."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from commerce.customers.segments import FIELDS
from commerce.formats import timestamp
from commerce.rest import fields
from commerce.rest.shapes import Input

MAX_CONDITIONS = 20
MAX_VALUES = 100


class _TimestampTextField(serializers.Field):
    """A timestamp, stored as text in the API's format."""

    def to_internal_value(self, data: Any) -> str | None:
        return timestamp(fields.DateTimeField().run_validation(data))


# Functions, since DRF binds a field to one parent.
_VALUE_FIELDS: dict[str, Callable[[], serializers.Field]] = {
    "tag": lambda: fields.TextField(max_length=64),
    "email_domain": fields.DomainField,
    "country_code": fields.CountryField,
    "orders_count": fields.IntegerField,
    "total_spent_cents": fields.CentsField,
    "created_at": _TimestampTextField,
}


@extend_schema_field(OpenApiTypes.ANY)
class _AnyField(serializers.Field):
    """A value whose type depends on another field, checked once that is known."""

    def to_internal_value(self, data: Any) -> Any:
        return data


class ConditionInput(Input):
    field = serializers.ChoiceField(list(FIELDS))
    op = serializers.ChoiceField(["eq", "neq", "in", "gte", "lte"])
    value = _AnyField()

    def validate(self, condition: dict[str, Any]) -> dict[str, Any]:
        operators = FIELDS[condition["field"]]
        if condition["op"] not in operators:
            detail = f"This field takes: {', '.join(operators)}."
            raise serializers.ValidationError({"op": serializers.ErrorDetail(detail, "op_not_allowed")})
        try:
            value = _value_field(condition["field"], condition["op"]).run_validation(condition["value"])
        except serializers.ValidationError as error:
            raise serializers.ValidationError({"value": error.detail}) from None
        return condition | {"value": value}


class FilterInput(Input):
    all = fields.ListField(child=ConditionInput(), max_length=MAX_CONDITIONS)


@extend_schema_field(FilterInput)
class FilterField(fields.WholeField):
    shape = FilterInput
    # Checkouts compare customers with it.
    max_bytes = 64 * 1024


class SegmentInput(Input):
    handle = fields.HandleField()
    name = fields.TextField(max_length=200)
    filter = FilterField()


def _value_field(name: str, operator: str) -> serializers.Field:
    value = _VALUE_FIELDS[name]()
    if operator == "in":
        return fields.ListField(child=value, allow_empty=False, max_length=MAX_VALUES)
    return value
