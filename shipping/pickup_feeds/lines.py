"""What a feed consists of, whatever its format: numbered lines with the fields that each of them gives."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from .errors import FeedRefused

# Characters of one line or item. A feed without line ends must not be read into memory whole.
MAX_LENGTH = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line or item. `number` counts lines of the file from 1; `problem` says why there are no fields."""

    number: int
    fields: dict[str, Any]
    problem: str = ""


def object_line(number: int, value: Any) -> Line:
    """The line of a decoded JSON value, which has to be an object."""
    if isinstance(value, dict):
        return Line(number, value)
    return Line(number, {}, "is not a JSON object")


def bounded_lines(stream: TextIO) -> Iterator[str]:
    """The lines of a text; raises `FeedRefused` at one that is longer than `MAX_LENGTH`."""
    number = 0
    while line := stream.readline(MAX_LENGTH):
        number += 1
        if len(line) == MAX_LENGTH:
            raise FeedRefused(f"Line {number} is longer than {MAX_LENGTH} characters.")
        yield line
