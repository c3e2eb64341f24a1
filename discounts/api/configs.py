"""API schemas of the mechanics' configs, derived from their descriptions."""

from dataclasses import replace
from functools import cache
from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input, Output
from discounts.evaluation import SHARED_COLUMN, Choice, Group, Ids, Number, Part, Rows
from discounts.field_rules import MAX_CONFIG_BYTES, MAX_CONFIG_NODES, MAX_IDS, config_rule
from discounts.models import Discount
from discounts.registry import mechanics_with_shared_column, type_choices

# What parts of these names mean in every mechanic.
_TEXTS = {
    "buy": "What must be bought.",
    "get": "What is reduced then: the cheapest units, except those that count as bought.",
    "quantity": "Number of units.",
    "product_ids": "Units of these products; of any product if `variant_ids` is empty too.",
    "variant_ids": "Units of these variants.",
    "max_applications": "How often it applies to one order; null for any number.",
    "scope": "Whether units are counted for each `line`, or for the whole `order`.",
    "tiers": "The highest tier that is reached applies to all units.",
    "min_quantity": "The lowest number of units for which it applies.",
    "value_mode": "`percentage`, `fixed_amount`, `set_price` or `free`, of each unit.",
    "value_amount": "Basis points for `percentage`, otherwise cents; null for `free`.",
}


class TypeField(serializers.ChoiceField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(type_choices(), **kwargs)


class IdsField(fields.ListField):
    child = fields.IdField()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_IDS, **kwargs)


class IdsOutput(serializers.ListField):
    child = fields.IdField()


# Adds a field for the column that types share, if there are such types. This is no docstring, because the OpenAPI document
# would show that for each subclass.
class WithConfig(serializers.Serializer):
    # A class method under this name, because commerce/rest/versioning.py reads the fields of a class without an instance.
    @classmethod
    def more_fields(cls) -> dict[str, serializers.Field]:
        groups = tuple(each.config for each in mechanics_with_shared_column() if each.config)
        if not groups:
            return {}
        if issubclass(cls, Input):
            return {SHARED_COLUMN: _make_shared_input(groups)(required=False, allow_null=True)}
        return {SHARED_COLUMN: _make_shared_output(groups)(allow_null=True)}

    def get_fields(self) -> dict[str, serializers.Field]:
        return super().get_fields() | self.more_fields()


# Cached, so that the OpenAPI document gets one class for each schema's name.
@cache
def make_config_input(group: Group) -> type[fields.WholeField]:
    """The field of a request for a config in a column of its own."""
    shape = _get_schema(group, Input)
    field = type(
        f"{group.schema}Field",
        (fields.WholeField,),
        {"shape": shape, "rule": staticmethod(config_rule(group)), "max_bytes": MAX_CONFIG_BYTES},
    )
    return extend_schema_field(shape)(field)


@cache
def make_config_output(group: Group) -> type[serializers.Serializer]:
    return _get_schema(group, Output)


@cache
def _make_shared_input(groups: tuple[Group, ...]) -> type[fields.ObjectField]:
    @extend_schema_field(_make_union("DiscountConfigInput", groups, Input))
    class SharedField(fields.ObjectField):
        """The operation checks it by the discount's type."""

        def __init__(self, **kwargs: Any) -> None:
            super().__init__(max_bytes=MAX_CONFIG_BYTES, max_nodes=MAX_CONFIG_NODES, **kwargs)

    return SharedField


@cache
def _make_shared_output(groups: tuple[Group, ...]) -> type[serializers.Field]:
    @extend_schema_field(_make_union("DiscountConfigOutput", groups, Output))
    class SharedField(serializers.Field):
        def get_attribute(self, instance: Discount) -> Discount | None:
            return None if instance.config is None else instance

        def to_representation(self, value: Discount) -> dict[str, Any]:
            group = value.mechanic.config
            return dict(_get_schema(group, Output)(value.config).data) if group else value.config or {}

    return SharedField


def _make_union(
    name: str, groups: tuple[Group, ...], base: type[Input | Output]
) -> PolymorphicProxySerializer:
    return PolymorphicProxySerializer(name, [_get_schema(group, base) for group in groups], None)


def _get_schema(group: Group, base: type[Input | Output]) -> type[serializers.Serializer]:
    """Groups that differ only in name and labels have one schema."""
    return _make_schema(_drop_labels(replace(group, name="")), base)


def _drop_labels(part: Part) -> Any:
    match part:
        case Group():
            return replace(part, parts=tuple(map(_drop_labels, part.parts)))
        case Rows():
            return replace(part, row=_drop_labels(part.row))
    return replace(part, label="")


@cache
def _make_schema(group: Group, base: type[Input | Output]) -> type[serializers.Serializer]:
    make = _make_input if base is Input else _make_output
    made = {part.name: make(part, _TEXTS.get(part.name)) for part in group.parts}
    return type(group.schema + base.__name__, (base,), made)


def _make_input(part: Part, text: str | None) -> serializers.Field:
    match part:
        case Number():
            optional = {} if part.is_required else {"default": None, "allow_null": True}
            return fields.IntegerField(
                min_value=part.min_value, max_value=part.max_value, help_text=text, **optional
            )
        case Choice():
            return serializers.ChoiceField(_list_choices(part), help_text=text)
        case Ids():
            return IdsField(default=list, help_text=text)
        case Group():
            return _get_schema(part, Input)(help_text=text)
    row = _get_schema(part.row, Input)()
    return fields.ListField(child=row, allow_empty=False, max_length=part.max_length, help_text=text)


def _make_output(part: Part, text: str | None) -> serializers.Field:
    match part:
        case Number():
            return serializers.IntegerField(allow_null=not part.is_required, help_text=text)
        case Choice():
            return serializers.ChoiceField(_list_choices(part), help_text=text)
        case Ids():
            return IdsOutput(help_text=text)
        case Group():
            return _get_schema(part, Output)(help_text=text)
    return _get_schema(part.row, Output)(many=True, help_text=text)


def _list_choices(part: Choice) -> list[tuple[str, str]]:
    """The values, with the names of value modes as the document has them."""
    return [(value, value if part.labels else value.replace("_", " ").title()) for value in part.values]
