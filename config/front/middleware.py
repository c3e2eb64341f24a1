from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from commerce.rest.problems import refusal_response
from config.front.environ import REFUSAL


class RefusedBodies:
    """Turns a body that the front refused into the same kind of answer as any other refusal."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        refusal = request.META.get(REFUSAL)
        return self.get_response(request) if refusal is None else refusal_response(refusal, request)
