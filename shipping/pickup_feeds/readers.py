"""The formats that feeds come in. Every reader holds no more than a few lines at a time."""

import csv
from collections.abc import Iterator
from typing import Any, TextIO

import orjson

from .errors import FeedRefused
from .lines import Line, bounded_lines, object_line
from .points import REQUIRED_FIELDS

# Opening hours may be laid out over several lines.
MAX_LINES_OF_A_CELL = 100


def read_csv(stream: TextIO) -> Iterator[Line]:
    """Lines below a header of field names, separated by commas, semicolons or tabs; an empty cell is absent.

    Raises `FeedRefused` for a header that lacks a required field, and for quotes that don't end.
    """
    lines = bounded_lines(stream)
    header = next(lines, "")
    delimiter = max(",;\t", key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    missing = [name for name in REQUIRED_FIELDS if name not in names]
    if missing:
        raise FeedRefused(f"The header has no column {', '.join(missing)}.")
    yield from _csv_lines(csv.reader(lines, delimiter=delimiter, strict=True), names)


def read_json_lines(stream: TextIO) -> Iterator[Line]:
    """One JSON object a line; blank lines are passed over."""
    for number, text in enumerate(bounded_lines(stream), start=1):
        if not text.isspace():
            yield _json_line(number, text)


def _csv_lines(rows: Any, names: list[str]) -> Iterator[Line]:
    while True:
        # The header is line 1, and a quoted cell may span lines: a row is where it begins.
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
    """Refuse quotes that don't end: the points on the lines in them would seem to have vanished."""
    if lines > MAX_LINES_OF_A_CELL:
        raise FeedRefused(f"The quotes that begin on line {number} do not end.")


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
