"""Reads a JSON array item by item, so that memory doesn't grow with its length."""

import json
from collections.abc import Iterator
from typing import TextIO

from .errors import FeedRefused
from .lines import MAX_LENGTH, Line, build_line

# In characters.
_CHUNK = 1 << 16
_WHITE_SPACE = " \t\n\r"


def read_json_array(stream: TextIO) -> Iterator[Line]:
    """Read the items of an array. Raises `FeedRefused` at invalid JSON, since nothing after it can be read."""
    window = _Window(stream)
    window.take("[")
    has_more = window.peek() != "]"
    while has_more:
        # Skips white space, so that the item's own line is counted.
        window.peek()
        number = window.line
        yield build_line(number, window.take_value())
        has_more = window.peek() == ","
        if has_more:
            window.take(",")
    window.take("]")
    # Anything behind the array means that the file isn't what it seems, such as two files joined.
    if window.peek():
        raise window.build_refusal()


class _Window:
    """The part of the text in memory, the position in it, and the number of the current line."""

    def __init__(self, stream: TextIO) -> None:
        self.line = 1
        self._stream = stream
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """Skip white space and return the next character without consuming it; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _WHITE_SPACE:
                self._advance(self._at + 1)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._extend():
                return ""

    def take(self, wanted: str) -> None:
        """Consume this character. Raises `FeedRefused` if there is another one."""
        if self.peek() != wanted:
            raise self.build_refusal()
        self._advance(self._at + 1)

    def take_value(self) -> object:
        """Consume and return a value. Raises `FeedRefused` if it is invalid or longer than `MAX_LENGTH`."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError):
                # Invalid, or cut off at the end of the window: more text tells which.
                end = len(self._text)
            # A number that ends with the window may continue in the next chunk.
            if end < len(self._text):
                self._advance(end)
                return value
            if len(self._text) - self._at > MAX_LENGTH or not self._extend():
                raise self.build_refusal()

    def build_refusal(self) -> FeedRefused:
        return FeedRefused(f"Invalid JSON at line {self.line}.")

    def _advance(self, to: int) -> None:
        self.line += self._text.count("\n", self._at, to)
        self._at = to

    def _extend(self) -> bool:
        chunk = self._stream.read(_CHUNK)
        self._text = self._text[self._at :] + chunk
        self._at = 0
        return bool(chunk)


# Python would accept NaN and Infinity, which JSON doesn't have and jsonb can't store.
def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} isn't valid JSON.")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
