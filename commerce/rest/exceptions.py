"""Turns every exception of a DRF view into a problem document."""

import logging
from collections.abc import Mapping

from django.db import connection, transaction
from rest_framework import exceptions
from rest_framework.response import Response

from commerce.errors import FieldError, MalformedRequest, NotFound, Refusal, ValidationFailed

from . import problems
from .errors import MethodNotAllowed, NotAcceptable, UnsupportedMediaType
from .problems import CONTENT_TYPE, internal_error_document, refusal_document

logger = logging.getLogger(__name__)


class RefusedResponse(Response):
    """A refusal as the answer of a view. The middleware runs its aftermath, and counts wrong codes by its code."""

    def __init__(self, refusal: Refusal, document: Mapping[str, object]) -> None:
        super().__init__(document, status=refusal.status, headers=refusal.headers, content_type=CONTENT_TYPE)
        self.aftermath = refusal.aftermath
        self.refusal_code = refusal.code


def exception_handler(exc: Exception, context: Mapping[str, object]) -> Response:
    """DRF's hook. Always rolls back, so that a refused request changes nothing."""
    # DRF's own function rolls back only transactions of ATOMIC_REQUESTS. Scopes that the action opened itself were
    # rolled back when the error left them.
    if connection.in_atomic_block and not getattr(context["view"], "opens_own_scopes", False):
        transaction.set_rollback(True)
    request = context["request"]
    refusal = as_refusal(exc)
    if refusal is None:
        logger.error("Unhandled error", exc_info=exc)
        return Response(internal_error_document(request), status=500, content_type=CONTENT_TYPE)
    return RefusedResponse(refusal, refusal_document(refusal, request))


def as_refusal(exc: Exception) -> Refusal | None:
    """The refusal that an exception stands for, also one of DRF; None if it is a bug."""
    if isinstance(exc, exceptions.ValidationError):
        return ValidationFailed.of_errors(_flatten_errors(exc.detail))
    if isinstance(exc, exceptions.ParseError):
        return MalformedRequest(str(exc.detail))
    if isinstance(exc, exceptions.APIException):
        return _HTTP_REFUSALS[exc.status_code](str(exc.detail))
    return problems.as_refusal(exc)


# DRF raises no others here, as its authentication, permissions and throttles aren't used.
_HTTP_REFUSALS: dict[int, type[Refusal]] = {
    404: NotFound,
    405: MethodNotAllowed,
    406: NotAcceptable,
    415: UnsupportedMediaType,
}


def _flatten_errors(detail: object, path: str = "") -> list[FieldError]:
    """Flatten DRF's nested details into dotted paths."""
    if isinstance(detail, dict):
        return [
            error
            for name, inner in detail.items()
            for error in _flatten_errors(
                inner, path if name == "non_field_errors" else f"{path}.{name}".strip(".")
            )
        ]
    if isinstance(detail, list):
        # A list of errors about one field, or of the errors of each item.
        nested = any(isinstance(inner, dict | list) for inner in detail)
        return [
            error
            for index, inner in enumerate(detail)
            for error in _flatten_errors(inner, f"{path}.{index}".strip(".") if nested else path)
        ]
    return [FieldError(path, getattr(detail, "code", None) or "invalid", str(detail))]
