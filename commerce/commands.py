"""What operators' commands share: help with examples, output for scripts, and files with a progress bar."""

import io
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from tqdm import tqdm

from commerce.formats import as_text

_EXIT_STATUSES = """\
exit status:
  0    done
  1    failed, or found what the command looks for; standard error says what
  2    wrong arguments
  130  interrupted"""


class _HelpFormatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Keeps the lines of the examples."""


class OperatorCommand(BaseCommand):
    """A command whose help ends with examples and with what its exit statuses mean."""

    # What follows `manage.py`, with what it does.
    examples: ClassVar[Mapping[str, str]]

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        shown = [f"  # {meaning}\n  python manage.py {line}" for line, meaning in self.examples.items()]
        epilog = "\n".join(["examples:", *shown, "", _EXIT_STATUSES])
        return super().create_parser(
            prog_name, subcommand, **{"epilog": epilog, "formatter_class": _HelpFormatter} | kwargs
        )

    def write_json(self, row: Mapping[str, object]) -> None:
        """Write a line with an object. Its values look as in the API: ids and cents are text, times are in UTC."""
        self.stdout.write(orjson.dumps(as_text(dict(row))).decode())


def add_json_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="write a JSON object for each row, one on each line, for scripts"
    )


class ProgressReader(io.RawIOBase):
    """Reads a file, and advances a progress bar by bytes: the number of lines isn't known before the end."""

    def __init__(self, file: BinaryIO, bar: tqdm) -> None:
        self._file = file
        self._bar = bar

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        # `readinto1` returns what a pipe has, instead of waiting until the buffer is full.
        count = self._file.readinto1(buffer)  # type: ignore[attr-defined]
        self._bar.update(count)
        return count


def open_file(name: str) -> BinaryIO:
    """Open a file that an argument names. Raises `CommandError`."""
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise CommandError(f"{name} can't be read: {error.strerror}.") from None
