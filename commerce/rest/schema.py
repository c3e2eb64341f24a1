"""Helpers that describe bodies and answers in the OpenAPI document."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers

from commerce.errors import Refusal
from commerce.paging import DEFAULT_LIMIT, MAX_CURSOR, MAX_LIMIT

from .openapi_links import Link
from .unknown_fields import AcceptedFields
from .versioning import declared_fields

F = TypeVar("F", bound=Callable[..., Any])
Parameters = list[OpenApiParameter | type[serializers.Serializer]]

PAGE_PARAMETERS: Parameters = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": MAX_CURSOR, "default": DEFAULT_LIMIT},
        description=f"The most rows of the page. More than {MAX_LIMIT} counts as {MAX_LIMIT}. A page of large rows has fewer: "
        "only a `next_cursor_id` of null means that there are no more.",
    ),
    OpenApiParameter(
        "cursor_id",
        {"type": "integer", "minimum": 1, "maximum": MAX_CURSOR},
        description="The page begins after this row: the `next_cursor_id` of the previous page.",
    ),
]


@cache
def one(name: str, output: type[serializers.Serializer]) -> serializers.Serializer:
    """`{name: {...}}`."""
    described = output(help_text=f"The {name.replace('_', ' ')}.")
    return inline_serializer(f"{_name_subject(output)}Answer", {name: described})


@cache
def many(name: str, output: type[serializers.Serializer]) -> serializers.Serializer:
    """`{name: [...], next_cursor_id}`."""
    described = output(many=True, help_text=f"The page's {name.replace('_', ' ')}.")
    fields = {name: described, "next_cursor_id": serializers.CharField(allow_null=True)}
    return inline_serializer(f"{_name_subject(output)}Page", fields)


def envelope(name: str, **fields: serializers.Field) -> serializers.Serializer:
    """An answer of several named resources."""
    return inline_serializer(f"{name}Answer", dict(fields))


def answers(
    response: serializers.Serializer | None,
    *,
    request: type[serializers.Serializer] | None = None,
    partial: bool = False,
    status: int = 200,
    also: dict[int, str] | None = None,
    parameters: Parameters | None = None,
    refuses: Sequence[type[Refusal]] = (),
    leads_to: Sequence[Link] = (),
) -> Callable[[F], F]:
    """Describe an operation: its input (all fields optional if `partial`), its answer and the status.

    The first sentence of the action's docstring is the summary, the rest its description. `also` maps further statuses
    of the same answer to their meaning. `refuses` are the refusals besides those that any such request may get
    (openapi_refusals.py), `leads_to` the operations to ask next. Input fields not described here are unknown.
    """
    # Only an instance of a serializer can be partial.
    body = request(partial=True) if request and partial else request
    others = {code: OpenApiResponse(response, meaning) for code, meaning in (also or {}).items()}
    describe = extend_schema(request=body, responses={status: response} | others, parameters=parameters)
    query: set[str] = set()
    for parameter in parameters or []:
        query.update(
            [parameter.name] if isinstance(parameter, OpenApiParameter) else declared_fields(parameter)
        )
    accepted = AcceptedFields(body=request, query=frozenset(query))

    def decorate(action: F) -> F:
        # The base view reads them.
        action.leads_to = leads_to  # type: ignore[attr-defined]
        action.refuses = refuses  # type: ignore[attr-defined]
        action.accepted = accepted  # type: ignore[attr-defined]
        action.answer_schema = None if response is None else type(response)  # type: ignore[attr-defined]
        return describe(action)

    return decorate


def also_refuses(action: Callable[..., object], *refusals: type[Refusal]) -> None:
    """Add refusals to an action of an app below, which an app above makes by its hooks."""
    action.refuses = (*action.refuses, *refusals)  # type: ignore[attr-defined]


def _name_subject(output: type[serializers.Serializer]) -> str:
    return output.__name__.removesuffix("Output")
