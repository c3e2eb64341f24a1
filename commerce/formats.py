"""How values leave the domain: ids and cents as decimal strings, timestamps in UTC ending in Z.

The domain itself keeps integers and datetimes. Answers, events, refusals and the variables of emails use these
functions. `parse_id` reads ids from URLs and other plain text.
"""

from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any


def text_id(value: int | None) -> str | None:
    return None if value is None else str(value)


cents = text_id


def parse_id(text: str) -> int | None:
    """An id in decimal digits; None for any other text, and for more digits than surely fit into a bigint."""
    # Python also takes digits of other scripts.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def timestamp(value: datetime | None) -> str | None:
    """ISO 8601 in UTC, ending in Z, with microseconds only if there are any."""
    return None if value is None else value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def as_text(value: object) -> Any:
    """A value for JSON: dataclasses become objects, and integers become text if they are ids or cents by their names."""
    if isinstance(value, dict):
        return {name: _format_member(name, part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_text(part) for part in value]
    if isinstance(value, datetime):
        return timestamp(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _format_member(name, getattr(value, name)) for name in _list_field_names(type(value))}
    return value


def _format_member(name: str, value: object) -> object:
    # Not `isinstance`, as a bool is an int too.
    if type(value) is int:
        return str(value) if _is_text(name) else value
    if type(value) is list and name.endswith("_ids"):
        return [str(part) for part in value]
    # Most values are text, which stays as it is.
    return value if value is None or isinstance(value, str | bool) else as_text(value)


# 3 µs without the cache, for each object of an answer.
@cache
def _list_field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _is_text(name: str) -> bool:
    return name in {"id", "order_number"} or name.endswith(("_id", "_cents"))
