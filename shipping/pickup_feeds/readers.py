"""Readers of the feed formats. They keep only a few lines in memory."""

import csv
from collections.abc import Iterator
from typing import Any, TextIO

import orjson

from .errors import FeedRefused
from .lines import Line, build_line, read_bounded_lines
from .points import REQUIRED_FIELDS

# Opening hours may be formatted over several lines.
MAX_LINES_OF_A_CELL = 100


def read_csv(stream: TextIO) -> Iterator[Line]:
    """Read rows below a header of field names, separated by commas, semicolons or tabs. Empty cells are left out.

    Raises `FeedRefused` if the header lacks a required field, or a quoted cell doesn't end.
    """
    lines = read_bounded_lines(stream)
    header = next(lines, "")
    delimiter = max(",;\t", key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    missing = [name for name in REQUIRED_FIELDS if name not in names]
    if missing:
        raise FeedRefused(f"The header lacks {', '.join(missing)}.")
    # Strict, or quotes that never end would be accepted silently at the end of the file.
    yield from _read_rows(csv.reader(lines, delimiter=delimiter, strict=True), names)


def read_json_lines(stream: TextIO) -> Iterator[Line]:
    """Read one JSON object per line. Skips blank lines."""
    for number, text in enumerate(read_bounded_lines(stream), start=1):
        if not text.isspace():
            try:
                value = orjson.loads(text)
            except orjson.JSONDecodeError:
                yield Line(number, {}, "is not JSON")
            else:
                yield build_line(number, value)


# `csv.reader` returns a type that can't be imported.
def _read_rows(rows: Any, names: list[str]) -> Iterator[Line]:
    # Not a `for` loop, which couldn't go on after an invalid row.
    while True:
        # The header is line 1. A quoted cell may span lines; a row is numbered by its first line.
        number = rows.line_num + 2
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            # Quotes that never end swallow lines, whose points would seem to be missing and be closed.
            if rows.line_num + 2 - number > MAX_LINES_OF_A_CELL:
                raise FeedRefused(f"The quotes opened on line {number} aren't closed.") from None
            yield Line(number, {}, f"is not CSV: {error}")
            continue
        if row:
            # The fields are kept also if there is a problem: the id tells that the carrier still has the point.
            fields = {name: cell for name, cell in zip(names, row, strict=False) if cell.strip()}
            fits = len(row) == len(names)
            yield Line(number, fields, "" if fits else f"has {len(row)} columns instead of {len(names)}")
