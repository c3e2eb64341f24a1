import re
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from .logs import request_id

_ACCEPTABLE = re.compile(r"[\x21-\x7e]{1,128}")


class RequestIdMiddleware:
    """Gives every request an id, the client's own where it sent a usable one, and echoes it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.headers.get("X-Request-Id", "")
        request.request_id = sent if _ACCEPTABLE.fullmatch(sent) else uuid.uuid4().hex  # type: ignore[attr-defined]
        token = request_id.set(request.request_id)  # type: ignore[attr-defined]
        try:
            response = self.get_response(request)
        finally:
            request_id.reset(token)
        response["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        return response
