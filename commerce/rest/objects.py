"""Free-form JSON objects of clients, such as a line's custom attributes: stored as sent, within bounds."""

import math
from typing import Any

import orjson
from rest_framework import serializers

MAX_SAFE_INTEGER = 2**53 - 1
# Objects are copied and printed recursively.
MAX_DEPTH = 50
MAX_BYTES = 16 * 1024


class ObjectField(serializers.Field):
    """A JSON object without NUL characters, bounded in bytes (of compact JSON in UTF-8), values and depth.

    Numbers past 2^53 - 1 are refused, as they might not come back as sent.
    """

    default_error_messages = {
        "invalid": "A JSON object is required.",
        "too_large": "The object takes more than {max_bytes} bytes, or has more than {max_nodes} names and values.",
        "too_deep": "The object is nested too deeply.",
        "number_too_large": "Numbers go up to 2^53 - 1.",
        "null_characters_not_allowed": "Null characters are not allowed.",
    }

    def __init__(self, *, max_bytes: int = MAX_BYTES, max_nodes: int = 500, **kwargs: Any) -> None:
        self.max_bytes = max_bytes
        self.max_nodes = max_nodes
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("invalid")
        if data:
            self.require_bounds(data)
        return data

    def to_representation(self, value: dict[str, Any]) -> dict[str, Any]:
        return value

    def require_bounds(self, data: dict[str, Any]) -> None:
        """Raises `ValidationError` if the object exceeds a bound."""
        pending: list[tuple[Any, int]] = [(data, 1)]
        seen = digits = 0
        while pending:
            node, depth = pending.pop()
            seen += 1
            if seen > self.max_nodes:
                self._fail_as_too_large()
            if depth > MAX_DEPTH:
                self.fail("too_deep")
            if isinstance(node, dict | list):
                pending += [(part, depth + 1) for part in _parts(node)]
            elif isinstance(node, str) and "\x00" in node:
                self.fail("null_characters_not_allowed")
            elif isinstance(node, int | float):
                if abs(node) > MAX_SAFE_INTEGER:
                    self.fail("number_too_large")
                digits += _digits_before(node)
        if len(orjson.dumps(data)) + digits > self.max_bytes:
            self._fail_as_too_large()

    def _fail_as_too_large(self) -> None:
        self.fail("too_large", max_bytes=self.max_bytes, max_nodes=self.max_nodes)


def _parts(node: dict[str, Any] | list[Any]) -> list[Any]:
    return [*node.keys(), *node.values()] if isinstance(node, dict) else node


def _digits_before(number: float) -> int:
    """How many digits PostgreSQL writes: it prints 1e-300 with all its zeros."""
    return -math.floor(math.log10(abs(number))) if number and abs(number) < 1 else 0
