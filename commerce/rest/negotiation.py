"""Chooses parser and renderer. Nearly every client sends and accepts plain JSON, for which DRF's way takes long."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

_JSON = "application/json"


class Negotiation(DefaultContentNegotiation):
    """Takes the first parser and renderer, which are those of JSON, for plain JSON. DRF decides about anything else."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        if request.META.get("CONTENT_TYPE") == _JSON:
            return next(iter(parsers))
        return super().select_parser(request, parsers)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        if request.META.get("HTTP_ACCEPT", "*/*") in {"*/*", _JSON}:
            return next(iter(renderers)), _JSON
        return super().select_renderer(request, renderers, format_suffix)
