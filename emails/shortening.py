"""Shortens orders that are too long for one email: it shows the first lines, and how many more there are.

An order has up to 500 lines with titles in any script, and a template may write any amount about each.
"""

from collections.abc import Iterator

# The renderer's codes for a message that costs too much, as opposed to a mistake in it.
LIMIT_CODES = frozenset({"template_limit_exceeded", "body_too_large"})
# Tried in turn. What a line costs depends on the template, so no number fits all.
SHOWN_LINES = (100, 20)
MAX_TITLE_LENGTH = 200


def shorten(ctx: dict[str, object]) -> Iterator[dict[str, object]]:
    """The variables of an email as they are, then with ever fewer of the order's lines."""
    yield ctx
    order = ctx.get("order")
    lines = order.get("line_items") if isinstance(order, dict) else None
    # Clients of the API may put anything into the variables.
    if not isinstance(order, dict) or not isinstance(lines, list):
        return
    for number in SHOWN_LINES:
        if len(lines) > number:
            fewer = {"line_items": [_shorten_title(line) for line in lines[:number]]}
            yield ctx | {"order": order | fewer | {"more_lines_count": len(lines) - number}}


def _shorten_title(line: object) -> object:
    title = line.get("title") if isinstance(line, dict) else None
    if not isinstance(line, dict) or not isinstance(title, str) or len(title) <= MAX_TITLE_LENGTH:
        return line
    return line | {"title": title[: MAX_TITLE_LENGTH - 1] + "…"}
