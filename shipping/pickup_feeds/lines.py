"""The numbered lines of a feed and their fields, independent of its format."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from .errors import FeedRefused

# In characters, so that a feed without line ends isn't read into memory as a whole.
MAX_LENGTH = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """A line or item. `number` counts the file's lines from 1; `problem` says why the line can't be used."""

    number: int
    fields: dict[str, Any]
    problem: str = ""


def build_line(number: int, value: object) -> Line:
    """Build a line from a decoded JSON value, which must be an object."""
    if isinstance(value, dict):
        return Line(number, value)
    return Line(number, {}, "is not a JSON object")


def read_bounded_lines(stream: TextIO) -> Iterator[str]:
    """Read lines. Raises `FeedRefused` at one that is longer than `MAX_LENGTH`."""
    number = 0
    while line := stream.readline(MAX_LENGTH):
        number += 1
        # `readline` stops at this length, in the middle of a longer line.
        if len(line) == MAX_LENGTH:
            raise FeedRefused(f"Line {number} is longer than {MAX_LENGTH} characters.")
        yield line
