"""Rules for JSON objects. Free-form ones of clients, such as a line's custom attributes, are stored as sent."""

import math
from collections.abc import Mapping
from typing import Any, NoReturn

import orjson

from commerce.wording import Wording

from .fields import Rule, refuse, require_given
from .values import MAX_SAFE_INTEGER

# Objects are copied and printed recursively, so deep ones would exhaust the stack.
MAX_DEPTH = 50
MAX_BYTES = 16 * 1024
MAX_NODES = 500


def json_object(*, max_bytes: int = MAX_BYTES, max_nodes: int = MAX_NODES) -> Rule:
    """A JSON object without NUL characters, bounded in bytes (of compact JSON in UTF-8), values and depth.

    Numbers past 2^53 - 1 are refused, as they might not come back as sent.
    """

    def check(value: object) -> dict[str, Any]:
        require_given(value)
        if not isinstance(value, dict):
            refuse("invalid", "A JSON object is required.")
        if value:
            _require_bounds(value, max_bytes, max_nodes)
        return value

    return check


def within_bytes(rule: Rule, max_bytes: int) -> Rule:
    """The same rule, for an object that takes at most this many bytes as compact JSON."""

    def check(value: object) -> Any:
        kept = rule(value)
        if len(orjson.dumps(kept)) > max_bytes:
            refuse("too_large", Wording("The object takes more than %(bytes)s bytes.", bytes=max_bytes))
        return kept

    return check


def _require_bounds(value: Mapping[str, object], max_bytes: int, max_nodes: int) -> None:
    # Not recursive: this is where objects are found to be too deep.
    pending: list[tuple[Any, int]] = [(value, 1)]
    seen = zeros = 0
    while pending:
        node, depth = pending.pop()
        seen += 1
        # While counting, so that a huge object is refused without being walked to its end.
        if seen > max_nodes:
            _refuse_size(max_bytes, max_nodes)
        if depth > MAX_DEPTH:
            refuse("too_deep", "The object is nested too deeply.")
        if isinstance(node, dict | list):
            parts = [*node.keys(), *node.values()] if isinstance(node, dict) else node
            pending += [(part, depth + 1) for part in parts]
        elif isinstance(node, str) and "\x00" in node:
            refuse("null_characters_not_allowed", "Null characters are not allowed.")
        elif isinstance(node, int | float):
            if abs(node) > MAX_SAFE_INTEGER:
                refuse("number_too_large", "Numbers go up to 2^53 - 1.")
            zeros += _count_zeros(node)
    if len(orjson.dumps(value)) + zeros > max_bytes:
        _refuse_size(max_bytes, max_nodes)


def _refuse_size(max_bytes: int, max_nodes: int) -> NoReturn:
    refuse(
        "too_large",
        Wording(
            "The object takes more than %(bytes)s bytes, or has more than %(count)s names and values.",
            bytes=max_bytes,
            count=max_nodes,
        ),
    )


def _count_zeros(number: float) -> int:
    """How many zeros PostgreSQL writes at the beginning of a fraction: it prints 1e-300 with all of them."""
    return -math.floor(math.log10(abs(number))) if number and abs(number) < 1 else 0
