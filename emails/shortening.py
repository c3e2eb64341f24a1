"""Orders that are too long for one message: the first lines are shown, and how many more there are.

An order has up to 500 lines, with titles of any script, and templates write as much about each as they like.
"""

from collections.abc import Iterator
from typing import Any

# What the renderer says of a message that costs too much, rather than of a mistake in it.
LIMIT_CODES = frozenset({"template_limit_exceeded", "body_too_large"})
SHOWN_LINES = (100, 20)
MAX_TITLE_LENGTH = 200


def shortened(ctx: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The variables of an order's message with ever fewer of its lines; none where nothing can be left out."""
    order = ctx.get("order")
    lines = order.get("line_items") if isinstance(order, dict) else None
    if not isinstance(lines, list):
        return
    for number in SHOWN_LINES:
        if len(lines) > number:
            more = {"line_items": [_short(line) for line in lines[:number]]}
            yield ctx | {"order": order | more | {"more_lines_count": len(lines) - number}}  # type: ignore[operator]


def _short(line: Any) -> Any:
    title = line.get("title") if isinstance(line, dict) else None
    if not isinstance(title, str) or len(title) <= MAX_TITLE_LENGTH:
        return line
    return line | {"title": title[: MAX_TITLE_LENGTH - 1] + "…"}
