from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from commerce.errors import BodyTooLarge
from commerce.sizes import MAX_BODY_BYTES

# Deeper than any valid body, and far from what would exhaust the stack when printed.
MAX_DEPTH = 100


class JSONRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self, data: object, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        if data is None:
            return b""
        view = (renderer_context or {}).get("view")
        # Problem documents are the same in all versions.
        if view is None or not view.api_version.later_changes or renderer_context["response"].exception:
            return orjson.dumps(data)
        return orjson.dumps(view.downgrade(data))


class ProblemRenderer(JSONRenderer):
    """Lets DRF answer clients that accept only problem documents."""

    media_type = "application/problem+json"
    format = "problem"


class JSONObjectParser(BaseParser):
    """A JSON object of at most 1 MiB and 100 levels; anything else is refused before a serializer sees it."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: object = None
    ) -> dict[str, Any]:
        # One byte more shows that there is too much, without reading all of it.
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
        # Counting brackets is quick, and spares nearly every body the walk through its levels.
        if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _is_deeper_than(MAX_DEPTH, data):
            raise ParseError(f"The body is nested more than {MAX_DEPTH} levels deep.")
        return data


def _is_deeper_than(depth: int, data: Any) -> bool:
    level = [data]
    for _ in range(depth):
        parts = [part for node in level for part in (node.values() if isinstance(node, dict) else node)]
        level = [part for part in parts if isinstance(part, dict | list)]
        if not level:
            return False
    return True
