import re
import time
from collections.abc import Callable
from secrets import token_hex

from django.http import HttpRequest, HttpResponse

from commerce.metrics import count_request

from .logs import request_id
from .requests import ApiRequest

# A key of the WSGI environment, for requests that come from no client.
UNCOUNTED = "commerce.uncounted"

# Printable ASCII without blanks, as the id goes into the log and into a header of the answer.
_ACCEPTABLE = re.compile(r"[\x21-\x7e]{1,128}")


def choose_request_id(sent: str) -> str:
    """The client's own id if it is safe to log, else a new one."""
    return sent if _ACCEPTABLE.fullmatch(sent) else token_hex(16)


class MetricsMiddleware:
    """Counts requests and measures their time."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if UNCOUNTED in request.META:
            return self.get_response(request)
        began = time.perf_counter()
        response = self.get_response(request)
        match = request.resolver_match
        count_request(
            # Requests that reach no view: preflights, static files, unknown URLs.
            route=match.route if match else "none",
            method=request.method or "",
            status=response.status_code,
            seconds=time.perf_counter() - began,
        )
        return response


class RequestIdMiddleware:
    """Gives every request an id, the client's own if usable, and returns it in the answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: ApiRequest) -> HttpResponse:
        request.request_id = choose_request_id(request.META.get("HTTP_X_REQUEST_ID", ""))
        token = request_id.set(request.request_id)
        try:
            response = self.get_response(request)
        finally:
            request_id.reset(token)
        response["X-Request-Id"] = request.request_id
        return response
