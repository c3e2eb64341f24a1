"""Reads CSV row by row, with the number of each line."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import TextIOWrapper
from typing import Any, BinaryIO, TextIO

# In characters, so that a file without line ends isn't read into memory as a whole.
MAX_LINE = 1 << 20
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
            try:
                values = next(self._rows)
            except StopIteration:
                return
            except csv.Error as error:
                raise FileRefused(f"Line {line} is not CSV: {error}.") from None
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
        elif any("\udc80" <= character <= "\udcff" for cell in cells.values() for character in cell):
            problem = "It isn't in UTF-8."
        return Row(line, cells, problem)


def read_table(file: BinaryIO) -> Table:
    """Read the header of a file in UTF-8 whose columns are separated by commas, semicolons or tabs.

    Raises `FileRefused`, also later while the rows are read.
    """
    # Invalid UTF-8 becomes surrogates, so that only its own row is refused. `utf-8-sig` drops the byte order mark that
    # spreadsheets write. `csv` wants the line ends as they are.
    stream = TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    lines = _read_bounded_lines(stream)
    header = next(lines, "")
    delimiter = max(",;\t", key=header.count)
    columns = tuple(name.strip() for name in next(csv.reader([header], delimiter=delimiter), []))
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


def _clean(text: str) -> str:
    """Trim a cell, and remove the apostrophe that exports put before numbers and formulas for spreadsheets."""
    text = text.strip()
    return text[1:] if _PROTECTED.fullmatch(text) else text
