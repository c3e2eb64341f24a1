"""What operators' commands share: help with examples, and output for scripts."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping
from typing import Any, ClassVar

import orjson
from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter

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
