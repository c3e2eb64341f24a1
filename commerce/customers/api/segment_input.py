"""Describes a segment's filter for requests; `commerce.customers.rules` checks it."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from commerce.customers.rules import (
    FILTER,
    MAX_CONDITIONS,
    MAX_FILTER_BYTES,
    MAX_SEGMENT_NAME,
    OPERATORS,
)
from commerce.customers.segments import FIELDS
from commerce.rest import fields
from commerce.rest.shapes import Input


@extend_schema_field(OpenApiTypes.ANY)
class _AnyField(serializers.Field):
    """A value whose type depends on another field."""

    def to_internal_value(self, data: object) -> object:
        return data


class ConditionInput(Input):
    field = serializers.ChoiceField(list(FIELDS), help_text="What is compared.")
    op = serializers.ChoiceField(
        OPERATORS,
        help_text="How: equal (`eq`), not equal (`neq`), one of (`in`), at least (`gte`), at most (`lte`).",
    )
    value = _AnyField(
        help_text="A text, a number or a timestamp, by the field; a list of them for `in`. Amounts are in cents."
    )


class FilterInput(Input):
    all = fields.ListField(
        child=ConditionInput(), max_length=MAX_CONDITIONS, help_text="The conditions, all of which must hold."
    )


@extend_schema_field(FilterInput)
class FilterField(fields.WholeField):
    shape = FilterInput
    rule = staticmethod(FILTER)
    max_bytes = MAX_FILTER_BYTES


class SegmentInput(Input):
    handle = fields.HandleField(help_text="Unique among the shop's segments.")
    name = fields.TextField(max_length=MAX_SEGMENT_NAME)
    filter = FilterField(help_text="Who belongs to it. Always replaced as a whole.")
