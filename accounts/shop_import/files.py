"""Reads CSV row by row, with the number of each line."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import TextIOWrapper
from typing import Any, BinaryIO, TextIO

# In characters, of a line and of a cell, so that a file without line ends or with a quote too many isn't read into memory
# as a whole. Descriptions of half a megabyte exist: they are refused, but only with their own product.
MAX_LINE = 1 << 20
# What invalid UTF-8 is read as.
_INVALID = re.compile("[\udc80-\udcff]")
# A number, which spreadsheets would otherwise show without its zeros or as a formula.
_PROTECTED = re.compile(r"'(?:[=+@-].*|[\d ()./-]+)", re.DOTALL)


class FileRefused(Exception):
    """The file can't be read, or no further than to a line. The message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row that aren't empty, trimmed, by the names of their columns.

    `line` is the number of its first line in the file, where the header is line 1.
    """

    line: int
    cells: Mapping[str, str]
    problem: str = ""

    def get(self, *names: str) -> str:
        """The first of these cells that isn't empty, else an empty text."""
        return next((self.cells[name] for name in names if name in self.cells), "")


@dataclass(slots=True)
class Table:
    """The rows below a header. While they are read, it counts the filled cells of each column."""

    columns: tuple[str, ...]
    _rows: Any
    rows_read: int = 0
    filled: dict[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Row]:
        # Not a `for` loop, which couldn't name the line of an error.
        while True:
            # The header is line 1. A row is numbered by its first line.
            line = self._rows.line_num + 2
            # The limit belongs to the whole process, and others rely on it.
            limit = csv.field_size_limit(MAX_LINE)
            try:
                values = next(self._rows)
            except StopIteration:
                return
            except csv.Error as error:
                raise FileRefused(f"Line {line} is not CSV: {error}.") from None
            finally:
                csv.field_size_limit(limit)
            if any(values):
                self.rows_read += 1
                yield self._read_row(line, values)

    def _read_row(self, line: int, values: list[str]) -> Row:
        cells = {
            name: cell for name, text in zip(self.columns, values, strict=False) if (cell := _clean(text))
        }
        for name in cells:
            self.filled[name] = self.filled.get(name, 0) + 1
        problem = ""
        if len(values) != len(self.columns):
            problem = f"It has {len(values)} columns instead of {len(self.columns)}."
        elif any(_INVALID.search(cell) for cell in cells.values()):
            problem = "It isn't in UTF-8."
        elif any("\0" in cell for cell in cells.values()):
            problem = "It has a null character."
        # The names of a refused row are still shown, and compared with those in the database.
        return Row(
            line, {name: _make_storable(cell) for name, cell in cells.items()} if problem else cells, problem
        )


def read_table(file: BinaryIO) -> Table:
    """Read the header of a file in UTF-8 whose columns are separated by commas, semicolons or tabs.

    Raises `FileRefused`, also later while the rows are read.
    """
    # Invalid UTF-8 becomes surrogates, so that only its own row is refused. `utf-8-sig` drops the byte order mark that
    # spreadsheets write. `csv` wants the line ends as they are.
    stream = TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    lines = _read_bounded_lines(stream)
    header = _make_storable(next(lines, ""))
    delimiter = max(",;\t", key=header.count)
    try:
        names = next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error as error:
        raise FileRefused(f"Line 1 is not CSV: {error}.") from None
    columns = tuple(name.strip() for name in names)
    # Strict, or quotes that never end would be accepted silently at the end of the file. `csv` bounds the length of a
    # cell, so they don't swallow the whole file either.
    return Table(columns, csv.reader(lines, delimiter=delimiter, strict=True))


def _read_bounded_lines(stream: TextIO) -> Iterator[str]:
    number = 0
    while line := stream.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE:
            raise FileRefused(f"Line {number} is longer than {MAX_LINE} characters.")
        yield line


def _make_storable(text: str) -> str:
    """Replace what can be neither shown nor stored: invalid UTF-8 and null characters."""
    return _INVALID.sub("\ufffd", text).replace("\0", "\ufffd")


def _clean(text: str) -> str:
    """Trim a cell, and remove the apostrophe that exports put before numbers and formulas for spreadsheets."""
    text = text.strip()
    return text[1:] if _PROTECTED.fullmatch(text) else text
