"""Views of the whole installation: the API document, and errors outside any other view."""

from functools import cache
from pathlib import Path

import orjson
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.templatetags.static import static
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.errors import MalformedRequest, NotFound
from commerce.rest.errors import Forbidden, UnsupportedApiVersion
from commerce.rest.problems import allow_methods, internal_error_response, refusal_response
from commerce.rest.versioning import document_for
from commerce.versions import ApiVersion, api_versions, current_version

OPENAPI_PATH = settings.BASE_DIR / "docs" / "openapi.json"

# Swagger UI writes styles into the page, and has its icons in data URLs.
_DOCS_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Favicon(RedirectView):
    """Redirects to the icon, whose address depends on its content."""

    http_method_names = ["get", "head"]

    def get_redirect_url(self, *args: object, **kwargs: object) -> str:
        return static("backoffice/favicon.svg")


class Docs(SpectacularSwaggerSplitView):
    """Swagger UI. Its script is served separately, so that the page needs no inline script."""

    http_method_names = ["get", "head"]
    # Public, so authentication headers are ignored.
    authentication_classes = ()
    permission_classes = ()

    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        response = super().get(request, *args, **kwargs)
        response["Content-Security-Policy"] = _DOCS_POLICY
        return response


@cache
def _build_openapi_document(version: ApiVersion) -> bytes:
    return orjson.dumps(document_for(version, orjson.loads(Path(OPENAPI_PATH).read_bytes())))


@allow_methods("GET", "HEAD")
def openapi(request: HttpRequest, name: str | None = None) -> HttpResponse:
    """The API document of a version, or else of the current one."""
    version = api_versions().get(name or current_version().name)
    if version is None:
        return unsupported_version(request, name or "")
    return HttpResponse(_build_openapi_document(version), content_type="application/json")


def unsupported_version(request: HttpRequest, version: str) -> HttpResponse:
    # The pattern matches every unknown URL of a surface, in supported versions as well.
    if version in api_versions():
        return not_found(request)
    return refusal_response(UnsupportedApiVersion(supported=list(api_versions())), request)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return refusal_response(NotFound("There is nothing at this address."), request)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    is_unknown_host = isinstance(exception, DisallowedHost)
    detail = "This host isn't served here." if is_unknown_host else None
    return refusal_response(MalformedRequest(detail), request)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return refusal_response(Forbidden(), request)


def server_error(request: HttpRequest) -> HttpResponse:
    return internal_error_response(request)
