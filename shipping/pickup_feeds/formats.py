"""The formats of feeds. A format turns bytes into lines whose fields have our own names."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from io import TextIOWrapper
from typing import Any, BinaryIO, NamedTuple, TextIO

from . import packeta
from .json_array import read_json_array
from .lines import Line
from .readers import read_csv, read_json_lines


class Format(NamedTuple):
    read: Callable[[TextIO], Iterator[Line]]
    suffixes: tuple[str, ...]
    map_fields: Callable[[dict[str, Any]], dict[str, Any]] | None = None


FORMATS = {
    "csv": Format(read_csv, (".csv", ".tsv")),
    "jsonl": Format(read_json_lines, (".jsonl", ".ndjson")),
    "packeta": Format(read_json_array, (".json",), packeta.map_fields),
}


def find_format(suffix: str) -> str | None:
    """Find the format by the suffix of a file's name."""
    return next((name for name, known in FORMATS.items() if suffix.lower() in known.suffixes), None)


def read_feed(file: BinaryIO, *, format_name: str) -> Iterator[Line]:
    """Read the lines of a feed in UTF-8, one by one. Raises `FeedRefused` if the rest can't be read."""
    known = FORMATS[format_name]
    # Invalid UTF-8 becomes surrogates, so that only its own line is refused, when its fields are checked.
    # `utf-8-sig` drops the byte order mark that spreadsheets write. `csv` wants the line ends as they are.
    stream = TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    for line in known.read(stream):
        # A line with a problem has no fields to map, or not all of them.
        if known.map_fields is None or line.problem:
            yield line
        else:
            yield replace(line, fields=known.map_fields(line.fields))
