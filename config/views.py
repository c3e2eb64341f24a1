"""What belongs to the installation as a whole: health, the API document, and errors outside of any view."""

from functools import cache
from pathlib import Path

import orjson
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from commerce.errors import MalformedRequest, NotFound
from commerce.redis import client
from commerce.rest.errors import Forbidden, UnsupportedApiVersion
from commerce.rest.problems import internal_error_response, refusal_response
from commerce.tenancy.roles import bypass_reasons

OPENAPI_PATH = settings.BASE_DIR / "docs" / "openapi.json"


def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """What serving needs is there, and the serving role can't bypass row-level security."""
    failures = _database_failures()
    status = "unavailable" if failures else "ok"
    return JsonResponse(
        {"status": status, "failures": failures, "redis": _redis_state()}, status=503 if failures else 200
    )


def _database_failures() -> list[str]:
    try:
        return [
            f"The serving database role could bypass row-level security: {why}."
            for why in bypass_reasons(connection)
        ]
    except DatabaseError:
        return ["The database does not answer."]


def _redis_state() -> str:
    # Redis carries rate limits and the task queue: without it shops still sell.
    try:
        client().ping()
    except OSError:
        return "unavailable"
    return "ok"


@cache
def _openapi_document() -> bytes:
    return orjson.dumps(orjson.loads(Path(OPENAPI_PATH).read_bytes()))


def openapi(request: HttpRequest) -> HttpResponse:
    return HttpResponse(_openapi_document(), content_type="application/json")


def unsupported_version(request: HttpRequest, version: str) -> HttpResponse:
    if version == settings.API_VERSION:
        return not_found(request)
    return refusal_response(UnsupportedApiVersion(supported=[settings.API_VERSION]), request)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return refusal_response(NotFound("There is nothing at this address."), request)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return refusal_response(MalformedRequest("The request can't be understood."), request)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return refusal_response(Forbidden(), request)


def server_error(request: HttpRequest) -> HttpResponse:
    return internal_error_response(request)
