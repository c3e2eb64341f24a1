"""Describes our own fields in the OpenAPI document, where requests and answers differ."""

import sys
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from rest_framework import serializers

from . import fields
from .versioning import declared_fields

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
    answer_pattern = "^[0-9]+$"

    def map_serializer_field(self, auto_schema: object, direction: str) -> Schema:
        if direction == "response":
            return {"type": "string", "pattern": self.answer_pattern}
        # About the range of the integer, as far as a pattern can express it.
        digits = "[1-9][0-9]{0,15}" if self.target.min_value > 0 else "[0-9]{1,16}"
        sign = "-?" if self.target.min_value < 0 else ""
        return {"oneOf": [_describe_integer(self.target), {"type": "string", "pattern": f"^{sign}{digits}$"}]}


class CentsSchema(DecimalStringSchema):
    target_class = fields.CentsField
    # Ledgers have negative amounts.
    answer_pattern = "^-?[0-9]+$"


class ObjectFieldSchema(OpenApiSerializerFieldExtension):
    target_class = fields.ObjectField
    match_subclasses = True

    def map_serializer_field(self, auto_schema: object, direction: str) -> Schema:
        return {"type": "object", "additionalProperties": True}


def _describe_integer(field: fields.IntegerField) -> Schema:
    return {"type": "integer", "minimum": field.min_value, "maximum": field.max_value}


def describe_limits(field: serializers.Field) -> Schema:
    """What requests may contain besides the type: limits that drf-spectacular doesn't find by itself."""
    if isinstance(field, fields.FormattedField) and field.pattern:
        return {"pattern": field.pattern}
    if isinstance(field, serializers.ListField) and not field.allow_empty:
        return {"minItems": 1}
    return {}


# What fields of these names mean everywhere, unless a field's `help_text` says more.
_MEANINGS = {
    "id": "Its id.",
    "next_cursor_id": "The `cursor_id` of the next page; null if this is the last.",
    "created_at": "When it was created.",
    "updated_at": "When it was last changed.",
    "country_code": "The country.",
    "currency": "The currency.",
    "locale": "Language and region.",
    "handle": "A name for use in URLs and imports, unique among its kind.",
    "name": "A name for people.",
}
# Units and codes by the suffix of a field's name, added to every description that doesn't have them.
_UNITS = {
    "_cents": "In cents.",
    "_bp": "In basis points: 1000 is 10 %.",
    "_grams": "In grams.",
    "_seconds": "In seconds.",
    "_ms": "In milliseconds.",
    "country_code": "ISO 3166-1 alpha-2, such as `DE`.",
    "country_codes": "ISO 3166-1 alpha-2, such as `DE`.",
    "currency": "ISO 4217, such as `EUR`.",
    "locale": "Such as `de-AT`.",
}
_TOKENS = ("carts", "checkouts", "orders")


def describe_field(field: serializers.Field) -> str:
    """Describe a field with its unit: by its own text, by `described_by`, or by what its name means everywhere."""
    name = field.field_name or ""
    text = _read_text(field) or _MEANINGS.get(name) or _describe_reference(name)
    if not text:
        return ""
    unit = next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")
    return text if unit.split(",")[0].rstrip(".") in text else f"{text} {unit}"


def _read_text(field: serializers.Field) -> str:
    if field.help_text:
        return str(field.help_text)
    describing = getattr(field.parent, "described_by", None)
    if isinstance(describing, str):
        describing = getattr(sys.modules[type(field.parent).__module__], describing)
    described = declared_fields(describing).get(field.field_name or "") if describing else None
    return str(described.help_text or "") if described else ""


def _describe_reference(name: str) -> str:
    """Describe a reference by its name: "Id of the market." for `market_id`."""
    if name.endswith("_ids"):
        return f"Ids of {_write_words(name.removesuffix('_ids'))}s."
    return f"Id of the {_write_words(name.removesuffix('_id'))}." if name.endswith("_id") else ""


def _write_words(name: str) -> str:
    return name.replace("_", " ")


def describe_path_parameter(name: str, path: str) -> str:
    if name == "handle":
        return "The account's handle."
    if name == "id_or_handle":
        return "The account's id or handle."
    if name == "token":
        kind = next(kind for kind in _TOKENS if f"/{kind}/" in path)
        return f"The {kind.removesuffix('s')}'s token, as its answers show it."
    return _PATH_PARAMETERS.get(name) or _describe_reference(name)


_PATH_PARAMETERS = {
    "code": "The code as the checkout shows it.",
    "locale": "A language, or language-REGION, such as `de` or `de-AT`.",
    "template_key": "The email, such as `order.confirmation`.",
}
