"""Finds unknown fields of requests: named in `X-Unknown-Fields`, or refused under `Prefer: handling=strict`.

An action declares its fields in `@answers`. Free-form objects (`ObjectField`) have no unknown fields.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from urllib.parse import quote

import orjson
from django.http import HttpResponse
from rest_framework import serializers

from commerce.errors import FieldError, MalformedRequest
from commerce.versions import ApiVersion

from .errors import UnknownField
from .requests import ApiRequest
from .versioning import declared_fields, nested_schemas, old_name

HEADER = "X-Unknown-Fields"
STRICT = {"Preference-Applied": "handling=strict"}
# The names come from the client, so their number and length are bounded.
MAX_IN_HEADER = 20
MAX_IN_ERRORS = 100
MAX_NAME_LENGTH = 100

# RFC 7240, 2 and 4.4: preferences are separated by commas, their parameters by semicolons.
_HANDLING = re.compile(r'(?:^|[,;])\s*handling\s*=\s*"?(\w+)"?\s*(?=[,;]|$)', re.IGNORECASE)
_HALF_AN_ESCAPE = re.compile(r"%[0-9A-F]?$")


@dataclass(frozen=True, slots=True)
class AcceptedFields:
    """What an action accepts: the shape of its body, and the names of its query parameters."""

    body: type[serializers.Serializer] | None
    query: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Names:
    """The names that a shape knows in a version, including those that it refuses itself, and the nested shapes."""

    known: frozenset[str]
    nested: tuple[tuple[str, type[serializers.Serializer]], ...]


def check_fields(request: ApiRequest, accepted: AcceptedFields, body: Mapping[str, object]) -> dict[str, str]:
    """The headers to add to the answer. Raises `UnknownField` if the client asks for strict handling."""
    is_strict = "HTTP_PREFER" in request.META and wants_strictness(request.META["HTTP_PREFER"])
    unknown: list[str] = []
    if request.META.get("QUERY_STRING"):
        unknown += islice((name for name in request.GET if name not in accepted.query), MAX_IN_ERRORS)
    if body:
        unknown += islice(
            unknown_fields(accepted.body, body, request.api_version), MAX_IN_ERRORS - len(unknown)
        )
    headers = {HEADER: ", ".join(map(_encode, unknown[:MAX_IN_HEADER]))} if unknown else {}
    if not is_strict:
        return headers
    if unknown:
        errors = [
            FieldError(name[:MAX_NAME_LENGTH], "unknown_field", "There is no such field.") for name in unknown
        ]
        refusal = UnknownField(errors=tuple(errors))
        refusal.headers = headers | STRICT
        raise refusal
    return STRICT


def add_field_headers(request: ApiRequest, accepted: AcceptedFields, response: HttpResponse) -> None:
    """Add the headers to a stored answer, which is replayed even if strict handling would refuse the request now."""
    try:
        headers = check_fields(request, accepted, orjson.loads(request.body or b"{}"))
    except UnknownField as refusal:
        headers = {HEADER: refusal.headers[HEADER]}
    for name, value in headers.items():
        response[name] = value


def wants_strictness(prefer: str) -> bool:
    """Whether a `Prefer` header asks for strict handling. The first of repeated preferences counts.

    Raises `MalformedRequest` if the header isn't ASCII.
    """
    if not prefer.isascii():
        raise MalformedRequest("The Prefer header has characters other than ASCII.")
    stated = _HANDLING.search(prefer)
    return stated is not None and stated[1].lower() == "strict"


def unknown_fields(
    shape: type[serializers.Serializer] | None,
    data: Mapping[str, object],
    version: ApiVersion,
    path: str = "",
) -> Iterator[str]:
    """Dotted paths of the fields that a version doesn't know, such as `variants.0.sku`."""
    names = _list_names(shape, version)
    # Comparing sets first is quicker, and most requests have no unknown field.
    if not data.keys() <= names.known:
        yield from (f"{path}{name}" for name in data if name not in names.known)
    for name, inner in names.nested:
        value = data.get(name)
        if isinstance(value, dict):
            yield from unknown_fields(inner, value, version, f"{path}{name}.")
        elif isinstance(value, list):
            for index, part in enumerate(value):
                if isinstance(part, dict):
                    yield from unknown_fields(inner, part, version, f"{path}{name}.{index}.")


@cache
def _list_names(shape: type[serializers.Serializer] | None, version: ApiVersion) -> _Names:
    if shape is None:
        return _Names(frozenset(), ())
    names = [*declared_fields(shape), *getattr(shape, "refused_fields", ())]
    known = frozenset(old_name(shape, name, version) for name in names)
    nested = nested_schemas(shape).items()
    return _Names(known, tuple((old_name(shape, name, version), inner) for name, inner in nested))


def _encode(name: str) -> str:
    """A name for a header: percent-encoded UTF-8 except for letters, digits and `_.-~`, and cut."""
    # Cut before as well, so that a long name isn't encoded for nothing. The second cut may split an escape.
    return _HALF_AN_ESCAPE.sub("", quote(name[:MAX_NAME_LENGTH], safe="")[:MAX_NAME_LENGTH])
