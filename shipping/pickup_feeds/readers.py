"""Readers of the feed formats. They keep only a few lines in memory."""

import csv
from collections.abc import Iterator
from typing import Any, TextIO

import orjson

from .errors import FeedRefused
from .lines import Line, bounded_lines, object_line
from .points import REQUIRED_FIELDS

# Opening hours may be formatted over several lines.
MAX_LINES_OF_A_CELL = 100


def read_csv(stream: TextIO) -> Iterator[Line]:
    """Read rows below a header of field names, separated by commas, semicolons or tabs. Empty cells are left out.

    Raises `FeedRefused` if the header lacks a required field, or a quoted cell doesn't end.
    """
    lines = bounded_lines(stream)
    header = next(lines, "")
    delimiter = max(",;\t", key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    missing = [name for name in REQUIRED_FIELDS if name not in names]
    if missing:
        raise FeedRefused(f"The header lacks {', '.join(missing)}.")
    yield from _csv_lines(csv.reader(lines, delimiter=delimiter, strict=True), names)


def read_json_lines(stream: TextIO) -> Iterator[Line]:
    """Read one JSON object per line. Skips blank lines."""
    for number, text in enumerate(bounded_lines(stream), start=1):
        if not text.isspace():
            yield _json_line(number, text)


def _csv_lines(rows: Any, names: list[str]) -> Iterator[Line]:
    while True:
        # The header is line 1. A quoted cell may span lines; a row is numbered by its first line.
        number = rows.line_num + 2
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            _require_end(rows.line_num + 2 - number, number=number)
            yield Line(number, {}, f"is not CSV: {error}")
            continue
        if row:
            yield _csv_line(number, names, row)


def _require_end(lines: int, *, number: int) -> None:
    """Refuse unterminated quotes: the points on the lines inside them would seem to be missing."""
    if lines > MAX_LINES_OF_A_CELL:
        raise FeedRefused(f"The quotes opened on line {number} aren't closed.")


def _csv_line(number: int, names: list[str], row: list[str]) -> Line:
    fields = {name: cell for name, cell in zip(names, row, strict=False) if cell.strip()}
    if len(row) != len(names):
        return Line(number, fields, f"has {len(row)} columns instead of {len(names)}")
    return Line(number, fields)


def _json_line(number: int, text: str) -> Line:
    try:
        return object_line(number, orjson.loads(text))
    except orjson.JSONDecodeError:
        return Line(number, {}, "is not JSON")
