"""The refusals of an operation in the OpenAPI document: by status, with the stable codes as names of examples."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from http import HTTPStatus
from typing import Any

import orjson

from commerce import errors as common
from commerce.errors import Refusal, all_refusals

from . import errors
from .views import SurfaceViewSet, find_accepted_fields, scopes_of

Schema = dict[str, Any]

MEDIA_TYPE = "application/problem+json"
# Methods whose body is read.
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_ANY_REQUEST: tuple[type[Refusal], ...] = (
    common.MalformedRequest,
    common.Unauthenticated,
    errors.NotAcceptable,
    # Under `Prefer: handling=strict`, also for parameters of the query.
    errors.UnknownField,
    common.RateLimited,
    common.Busy,
    common.DatabaseUnreachable,
    errors.ServerBusy,
)
_ANY_BODY: tuple[type[Refusal], ...] = (
    errors.BodyTooSlow,
    common.BodyTooLarge,
    errors.UnsupportedMediaType,
    common.ValidationFailed,
    common.TooLarge,
)
# Inbound webhooks have no key and no limits, and take any Accept header.
WEBHOOK_REFUSALS: tuple[type[Refusal], ...] = (
    common.MalformedRequest,
    errors.BodyTooSlow,
    common.BodyTooLarge,
    common.Busy,
    common.DatabaseUnreachable,
    errors.ServerBusy,
)
_INTERNAL_ERROR = "internal_error"
_RESPONSES = "#/components/responses/"
_EXAMPLES = "#/components/examples/"
# Between the codes in the name of a response.
_SEPARATOR = "."


def list_refusals(
    view: type[SurfaceViewSet], action: str, method: str, *, has_path: bool
) -> list[type[Refusal]]:
    """Everything that an operation can be refused with: by the middleware, by the base view, and by the action.

    `has_path` tells whether the address contains an id, a token or a handle, which may be unknown.
    """
    found = [*_ANY_REQUEST]
    accepted = find_accepted_fields(view, action)
    if method in _WITH_BODY:
        # A body is read even where an action takes none.
        found += _ANY_BODY if accepted and accepted.body else _ANY_BODY[:3]
    if accepted and accepted.query:
        found.append(common.ValidationFailed)
    if has_path:
        found.append(common.NotFound)
    if view.binding == "account":
        found.append(common.AccountSuspended)
    if view.binding == "workspace" or scopes_of(view, action, method):
        found.append(common.InsufficientScope)
    if method == "POST":
        found += [errors.IdempotencyKeyInvalid, errors.IdempotencyKeyReused, common.RequestInProgress]
        if action in view.idempotent_actions:
            found.append(errors.IdempotencyKeyRequired)
    own: Iterable[type[Refusal]] = getattr(getattr(view, action, None), "refuses", ())
    # Each once: an action may also name what any request can be refused with.
    return list(dict.fromkeys([*found, *own]))


def describe_refusals(found: Iterable[type[Refusal]]) -> dict[str, Schema]:
    """The responses of an operation by status. Each is shared by the operations that have the same codes."""
    by_status: dict[int, set[str]] = defaultdict(set)
    by_status[HTTPStatus.INTERNAL_SERVER_ERROR].add(_INTERNAL_ERROR)
    for refusal in found:
        by_status[refusal.status].add(_find_name(refusal))
    return {
        str(int(status)): {"$ref": f"{_RESPONSES}{_SEPARATOR.join(sorted(names))}"}
        for status, names in sorted(by_status.items())
    }


def _make_response(names: Sequence[str]) -> Schema:
    kinds = [_map_names()[name] for name in names if name != _INTERNAL_ERROR]
    lines = [f"* `{kind.code}`: {kind.title}." for kind in kinds] or [
        f"* `{_INTERNAL_ERROR}`: Internal error."
    ]
    response: Schema = {
        "description": "\n".join(lines),
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {name: {"$ref": f"{_EXAMPLES}{name}"} for name in names},
            }
        },
    }
    if any(kind is common.RateLimited or "Retry-After" in kind.own_headers for kind in kinds):
        response["headers"] = {"Retry-After": {"$ref": "#/components/headers/Retry-After"}}
    return response


def make_shared_parts(paths: Schema) -> tuple[Schema, Schema]:
    """The responses and the examples of problems that the paths refer to."""
    referred = orjson.dumps(paths, default=str).decode()
    found = sorted(set(re.findall(rf'"{_RESPONSES}([^"]+)"', referred)))
    names = sorted({name for joined in found for name in joined.split(_SEPARATOR)})
    responses = {joined: _make_response(joined.split(_SEPARATOR)) for joined in found}
    return responses, {name: _make_example(name) for name in names}


def _make_example(name: str) -> Schema:
    """A problem document without members of its own."""
    kind = _map_names().get(name)
    status, code, title = (kind.status, kind.code, kind.title) if kind else (500, name, "Internal error")
    value = {
        "type": f"urn:problem:{code}",
        "title": title,
        "status": int(status),
        "detail": title,
        "code": code,
        "request_id": "9f86d081884c7d659a2feaa0c55ad015",
    }
    return {"summary": title, "value": value}


@cache
def _map_names() -> dict[str, type[Refusal]]:
    """Every refusal by the name of its example: its code, with its app where several refusals share a code."""
    named: dict[str, type[Refusal]] = {}
    for kind in sorted(all_refusals(), key=_make_sort_key):
        is_taken = kind.code in named
        # Refusals that differ only in their constraints look the same.
        if not is_taken or all(not _look_alike(kind, other) for other in named.values()):
            named[f"{kind.code}-{kind.__module__.split('.')[-2]}" if is_taken else kind.code] = kind
    return named


def _make_sort_key(kind: type[Refusal]) -> tuple[str, bool, str]:
    # The common refusals first, which get the plain names.
    return kind.code, kind.__module__ != common.__name__, kind.__module__


def _look_alike(one: type[Refusal], other: type[Refusal]) -> bool:
    return (one.code, one.title) == (other.code, other.title)


def _find_name(refusal: type[Refusal]) -> str:
    return next(name for name, kind in _map_names().items() if _look_alike(kind, refusal))
