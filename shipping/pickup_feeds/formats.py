"""Feeds by the name of their format: bytes in, lines with fields of our own names out."""

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
    own_fields: Callable[[dict[str, Any]], dict[str, Any]] | None = None


FORMATS = {
    "csv": Format(read_csv, (".csv", ".tsv")),
    "jsonl": Format(read_json_lines, (".jsonl", ".ndjson")),
    "packeta": Format(read_json_array, (".json",), packeta.own_fields),
}


def format_named_by(suffix: str) -> str | None:
    """The format that a file's name tells."""
    return next((name for name, known in FORMATS.items() if suffix.lower() in known.suffixes), None)


def read_feed(file: BinaryIO, *, format_name: str) -> Iterator[Line]:
    """The lines of a feed in UTF-8, read as they are asked for; raises `FeedRefused` where it can't go on."""
    known = FORMATS[format_name]
    # A byte that is no UTF-8 spoils its own line only, where the check of the fields finds it.
    stream = TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    for line in known.read(stream):
        if known.own_fields is None or line.problem:
            yield line
        else:
            yield replace(line, fields=known.own_fields(line.fields))
