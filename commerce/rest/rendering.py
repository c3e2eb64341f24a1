from typing import Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from commerce.errors import BodyTooLarge

MAX_BODY_BYTES = 1024 * 1024


class JSONRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return b"" if data is None else orjson.dumps(data)


class ProblemRenderer(JSONRenderer):
    """Lets a client that accepts problem documents alone be answered."""

    media_type = "application/problem+json"
    format = "problem"


class JSONObjectParser(BaseParser):
    """A JSON object of at most 1 MiB; anything else is refused before a serializer sees it."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> dict[str, Any]:
        raw = stream.read(MAX_BODY_BYTES + 1)
        if len(raw) > MAX_BODY_BYTES:
            raise BodyTooLarge
        if not raw.strip():
            return {}
        try:
            data = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not valid JSON: {error}") from None
        if not isinstance(data, dict):
            raise ParseError("The body must be a JSON object.")
        return data
