"""Problem documents (RFC 9457) for every error of both surfaces."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import orjson
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation, TooManyFieldsSent
from django.db import DatabaseError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponse

from commerce.database_errors import refusal_from_database
from commerce.errors import (
    BodyTooLarge,
    MalformedRequest,
    NotFound,
    Refusal,
)
from commerce.formats import as_text
from commerce.rest.errors import MethodNotAllowed

CONTENT_TYPE = "application/problem+json"


def refusal_response(refusal: Refusal, request: HttpRequest) -> HttpResponse:
    """A problem document outside of DRF views: for middleware and unknown URLs."""
    body = orjson.dumps(refusal_document(refusal, request))
    return HttpResponse(body, status=refusal.status, headers=refusal.headers, content_type=CONTENT_TYPE)


def allow_methods(*methods: str) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Restrict a view outside of the surfaces to these methods."""

    def restrict(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def view_or_refuse(request: HttpRequest, **path: object) -> HttpResponse:
            if request.method in methods:
                return view(request, **path)
            refusal = MethodNotAllowed()
            refusal.headers["Allow"] = ", ".join(methods)
            return refusal_response(refusal, request)

        return view_or_refuse

    return restrict


def internal_error_response(request: HttpRequest) -> HttpResponse:
    body = orjson.dumps(internal_error_document(request))
    return HttpResponse(body, status=500, content_type=CONTENT_TYPE)


def internal_error_document(request: object) -> dict[str, object]:
    return _make_document(500, "internal_error", "Internal error", request)


def refusal_document(refusal: Refusal, request: object) -> dict[str, object]:
    document = _make_document(refusal.status, refusal.code, refusal.title, request, detail=refusal.detail)
    if refusal.errors:
        document["errors"] = [error.as_dict() for error in refusal.errors]
    return document | as_text(refusal.extras)


def _make_document(
    status: int, code: str, title: str, request: object, *, detail: str | None = None
) -> dict[str, object]:
    return {
        "type": f"urn:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail or title,
        "code": code,
        "request_id": getattr(request, "request_id", None),
    }


def as_refusal(exc: Exception) -> Refusal | None:
    """The refusal that an exception of ours, of Django or of the database stands for; None if it is a bug."""
    if isinstance(exc, Refusal):
        return exc
    return next((meaning(exc) for kinds, meaning in _MEANINGS if isinstance(exc, kinds)), None)


# The first match wins, so kinds come before those that they derive from.
_MEANINGS: tuple[tuple[tuple[type[Exception], ...], Callable[[Any], Refusal | None]], ...] = (
    ((Http404,), lambda _: NotFound()),
    ((RequestDataTooBig,), lambda _: BodyTooLarge()),
    ((TooManyFieldsSent,), lambda _: MalformedRequest("There are too many query parameters.")),
    ((SuspiciousOperation,), lambda _: MalformedRequest()),
    ((DatabaseError, InterfaceError), refusal_from_database),
)
