"""Cross-origin requests: pages of any origin may call the storefront API.

That is safe because its keys are public and there are no cookies. Answers don't depend on the origin, so they need no
`Vary`. https://fetch.spec.whatwg.org/#http-cors-protocol
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

_PREFIX = "/storefront/"

_ANSWER = {
    "Access-Control-Allow-Origin": "*",
    # Scripts can't read other headers.
    "Access-Control-Expose-Headers": "Idempotent-Replayed, Preference-Applied, RateLimit-Limit, RateLimit-Remaining, "
    "RateLimit-Reset, Retry-After, X-Api-Version, X-Request-Id, X-Unknown-Fields",
}
_PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": "Content-Type, Idempotency-Key, Prefer, X-Request-Id, X-Storefront-Key",
    # A day. Browsers shorten what they find too long.
    "Access-Control-Max-Age": "86400",
}


class CorsMiddleware:
    """Answers preflights, which carry no key, and lets pages read every answer of the storefront API."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(_PREFIX) or "HTTP_ORIGIN" not in request.META:
            return self.get_response(request)
        if request.method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META:
            return HttpResponse(status=204, headers=_PREFLIGHT)
        response = self.get_response(request)
        for name, value in _ANSWER.items():
            response[name] = value
        return response
