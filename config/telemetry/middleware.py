from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from opentelemetry.trace import SpanKind

from commerce.rest.logs import request_id
from commerce.rest.middleware import UNCOUNTED
from config.telemetry.traces import note_error, open_span


class Traces:
    """A span for each request, named by its route. Paths and queries have tokens and personal data."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if UNCOUNTED in request.META:
            # Sent by the process to itself before it is forked, when no thread may be started yet.
            return self.get_response(request)
        with open_span(str(request.method), kind=SpanKind.SERVER) as span:
            response = self.get_response(request)
            route = request.resolver_match.route if request.resolver_match else "none"
            span.update_name(f"{request.method} {route}")
            span.set_attribute("http.request.method", str(request.method))
            span.set_attribute("http.route", route)
            span.set_attribute("http.response.status_code", response.status_code)
            span.set_attribute("commerce.request_id", request_id.get() or "")
            if response.status_code >= 500:
                note_error(span, str(response.status_code))
            return response
