"""Describes the settings of a mechanic. Rules, API schemas and form inputs are derived from the description."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from commerce.wording import mark

VALUE_MODES = ("percentage", "fixed_amount", "set_price", "free")
# The most units that a line of a cart may have.
MAX_QUANTITY = 9999
# The largest value of PostgreSQL's integer, the type of the columns that limit uses.
MAX_COUNT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Number:
    """An integer. It may be null unless it is required.

    Of a value, it counts basis points or cents, by the `value_mode` beside it.
    """

    name: str
    label: str
    min_value: int = 0
    # The largest integer that JSON carries exactly to JavaScript.
    max_value: int = 2**53 - 1
    is_required: bool = True
    is_value: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several texts. With labels, a form preselects the first; otherwise it starts empty."""

    name: str
    label: str
    values: tuple[str, ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ids:
    """Ids of the shop's rows. The name says of which kind: `product_ids`, `variant_ids`, ..."""

    name: str
    label: str


@dataclass(frozen=True, slots=True)
class Group:
    """An object; `schema` names it in the OpenAPI document."""

    schema: str
    parts: "tuple[Part, ...]"
    name: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """A list of objects, sorted by the number `key`, which must differ in each."""

    name: str
    row: Group
    key: str
    max_length: int
    add_label: str


Part = Number | Choice | Ids | Group | Rows

VALUE = (
    Choice("value_mode", mark("Reduced by"), VALUE_MODES),
    Number("value_amount", mark("Percentage or amount"), is_required=False, is_value=True),
)


def list_ids(group: Group, config: dict[str, Any], path: str) -> Iterator[tuple[str, str, list[int]]]:
    """Yield the name, the path and the ids of each list of ids in a config."""
    for part in group.parts:
        value, below = config[part.name], f"{path}.{part.name}"
        match part:
            case Ids():
                yield part.name, below, value
            case Group():
                yield from list_ids(part, value, below)
            case Rows():
                for index, row in enumerate(value):
                    yield from list_ids(part.row, row, f"{below}.{index}")
