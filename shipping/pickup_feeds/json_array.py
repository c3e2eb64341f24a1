"""A JSON array read one item at a time, so that its length doesn't matter."""

import json
from collections.abc import Iterator
from typing import Any, TextIO

from .errors import FeedRefused
from .lines import MAX_LENGTH, Line, object_line

_CHUNK = 1 << 16
_WHITE_SPACE = " \t\n\r"


def read_json_array(stream: TextIO) -> Iterator[Line]:
    """The items of an array. Raises `FeedRefused` where it is broken off or no JSON: what follows is lost then."""
    window = _Window(stream)
    window.take("[")
    if window.peek() == "]":
        window.take("]")
    else:
        yield from _items(window)
    if window.peek():
        raise window.broken()


def _items(window: "_Window") -> Iterator[Line]:
    while True:
        window.peek()
        number = window.line
        yield object_line(number, window.value())
        if window.peek() != ",":
            break
        window.take(",")
    window.take("]")


class _Window:
    """The part of a text that is looked at, with the line of the text that it has come to."""

    def __init__(self, stream: TextIO) -> None:
        self.line = 1
        self._stream = stream
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """The next character that is no white space, which becomes the first; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _WHITE_SPACE:
                self._advance(self._at + 1)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._extend():
                return ""

    def take(self, wanted: str) -> None:
        """Pass a character; raises `FeedRefused` where there is another."""
        if self.peek() != wanted:
            raise self.broken()
        self._advance(self._at + 1)

    def value(self) -> Any:
        """Pass and answer a value; raises `FeedRefused` for no JSON, and for more than `MAX_LENGTH` of it."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError):
                end = len(self._text)
            # A value that reaches the end may go on, as a number does.
            if end < len(self._text):
                self._advance(end)
                return value
            if len(self._text) - self._at > MAX_LENGTH or not self._extend():
                raise self.broken()

    def broken(self) -> FeedRefused:
        return FeedRefused(f"The JSON array is broken at line {self.line}.")

    def _advance(self, to: int) -> None:
        self.line += self._text.count("\n", self._at, to)
        self._at = to

    def _extend(self) -> bool:
        chunk = self._stream.read(_CHUNK)
        self._text = self._text[self._at :] + chunk
        self._at = 0
        return bool(chunk)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON.")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
