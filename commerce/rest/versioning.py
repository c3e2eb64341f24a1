"""Translates requests and answers of older API versions (docs/versioning.md).

Views, serializers and operations know the newest version alone. What a request or an answer consists of is declared by
`@answers`, so a change of a serializer finds each object that it concerns, however deep it lies.
"""

import re
from collections.abc import Iterator
from functools import cache

import orjson
from rest_framework import serializers

from commerce.versions import ApiVersion, Json, VersionChange

Schema = type[serializers.Serializer]

_SURFACE = re.compile(r"^/(admin|storefront)/[^/]+/")


def declared_fields(schema: Schema) -> dict[str, serializers.Field]:
    """The fields of a schema. `more_fields` of its class adds those that depend on the settings."""
    more_fields = getattr(schema, "more_fields", dict)
    return schema._declared_fields | more_fields()  # noqa: SLF001  DRF has no other way without an instance


@cache
def nested_schemas(schema: Schema) -> dict[str, Schema]:
    """The fields that hold an object with a schema of its own, or a list of them."""
    return {name: inner for name, field in declared_fields(schema).items() if (inner := _schema_below(field))}


def _schema_below(field: serializers.Field | None) -> Schema | None:
    if isinstance(field, serializers.ListSerializer | serializers.ListField):
        return _schema_below(field.child)
    if isinstance(field, serializers.Serializer):
        return type(field)
    return getattr(field, "shape", None)


@cache
def changes_of(schema: Schema, version: ApiVersion) -> tuple[VersionChange, ...]:
    """What changed in a schema since a version, newest first."""
    return tuple(change for change in version.later_changes if change.affects(schema))


@cache
def _has_changed(schema: Schema, version: ApiVersion) -> bool:
    return bool(changes_of(schema, version)) or any(
        _has_changed(inner, version) for inner in nested_schemas(schema).values()
    )


def old_name(schema: Schema, field: str, version: ApiVersion) -> str:
    """What a field is called in a version."""
    for change in changes_of(schema, version):
        field = change.old_name(field)
    return field


def old_path(schema: Schema | None, path: str, version: ApiVersion) -> str:
    """What a dotted path, such as `lines.0.sku`, is called in a version."""
    parts = []
    for part in path.split("."):
        if schema is None or part.isdigit():
            parts.append(part)
        else:
            parts.append(old_name(schema, part, version))
            schema = nested_schemas(schema).get(part)
    return ".".join(parts)


def downgrade_answer(data: object, schema: Schema | None, version: ApiVersion) -> object:
    """An answer as clients of the version know it."""
    if schema is None or not _has_changed(schema, version):
        return data
    # A copy, since parts of an answer may belong to a model or a cache.
    answer = orjson.loads(orjson.dumps(data))
    _downgrade(answer, schema, version)
    return answer


def _downgrade(node: Json, schema: Schema, version: ApiVersion) -> None:
    # Nested objects first: a change of the outer object may rename the fields that hold them.
    for name, inner in nested_schemas(schema).items():
        for part in _objects_in(node.get(name)):
            _downgrade(part, inner, version)
    for change in changes_of(schema, version):
        change.downgrade(node)


def upgrade_body(body: Json, schema: Schema, version: ApiVersion) -> Json:
    """A request of a client of the version as views know it."""
    if not _has_changed(schema, version):
        return body
    upgraded: Json = orjson.loads(orjson.dumps(body))
    _upgrade(upgraded, schema, version)
    return upgraded


def _upgrade(node: Json, schema: Schema, version: ApiVersion) -> None:
    # Oldest change first. The outer object first: nested objects are found by the current names of its fields.
    for change in reversed(changes_of(schema, version)):
        change.upgrade(node)
    for name, inner in nested_schemas(schema).items():
        for part in _objects_in(node.get(name)):
            _upgrade(part, inner, version)


def _objects_in(value: object) -> list[Json]:
    """The objects in a field. Whatever a client sent in their place is left to the validation."""
    return [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict)]


def document_for(version: ApiVersion, newest: Json) -> Json:
    """The OpenAPI document of a version, made from that of the newest."""
    document: Json = orjson.loads(orjson.dumps(newest))
    document["info"]["version"] = version.name
    document["paths"] = {
        _SURFACE.sub(rf"/\1/{version.name}/", path): operations
        for path, operations in document["paths"].items()
    }
    if version.later_changes:
        # They show the newest version.
        _drop_examples([document["paths"], document.get("webhooks", {})])
    components = document["components"]["schemas"]
    for change in version.later_changes:
        # A set, as a class may be a subclass of several of them, but must be changed once.
        names = {schema.__name__.removesuffix("Serializer") for schema in _with_subclasses(change.schemas)}
        for name in names:
            # drf-spectacular's names of a serializer: in answers, in requests, and in partial requests.
            for component in (name, f"{name}Request", f"Patched{name}Request"):
                if component in components:
                    change.downgrade_schema(components[component])
    return document


def _drop_examples(node: object) -> None:
    """Remove the examples of requests and answers. Those of problems are the same in all versions."""
    if isinstance(node, dict):
        node.pop("example", None)
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _drop_examples(part)


def _with_subclasses(classes: tuple[type, ...]) -> Iterator[type]:
    for found in classes:
        yield found
        yield from _with_subclasses(tuple(found.__subclasses__()))
