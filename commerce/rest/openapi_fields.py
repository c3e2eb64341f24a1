"""Describes our own fields in the OpenAPI document, where requests and answers differ."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension

from . import fields

Schema = dict[str, Any]


class IntegerFieldSchema(OpenApiSerializerFieldExtension):
    """A JSON number with its bounds, in requests and answers."""

    target_class = fields.IntegerField
    match_subclasses = True

    def map_serializer_field(self, auto_schema: object, direction: str) -> Schema:
        return _describe_integer(self.target)


class DecimalStringSchema(OpenApiSerializerFieldExtension):
    """Ids and cents: decimal strings in answers; integers or such strings in requests."""

    target_class: Any = fields.IdField
    match_subclasses = True
    # Before `IntegerFieldSchema`, which matches too.
    priority = 1

    def map_serializer_field(self, auto_schema: object, direction: str) -> Schema:
        text = {"type": "string", "pattern": "^-?[0-9]+$"}
        return text if direction == "response" else {"oneOf": [_describe_integer(self.target), text]}


class CentsSchema(DecimalStringSchema):
    target_class = fields.CentsField


class ObjectFieldSchema(OpenApiSerializerFieldExtension):
    target_class = fields.ObjectField
    match_subclasses = True

    def map_serializer_field(self, auto_schema: object, direction: str) -> Schema:
        return {"type": "object", "additionalProperties": True}


def _describe_integer(field: fields.IntegerField) -> Schema:
    return {"type": "integer", "minimum": field.min_value, "maximum": field.max_value}
