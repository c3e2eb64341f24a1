import io
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from django.core.management.base import CommandError
from django.utils import timezone
from tqdm import tqdm

from commerce.commands import OperatorCommand, ProgressReader, add_json_option, open_file
from commerce.errors import ValidationFailed
from commerce.rules import token
from shipping.pickup_feeds.errors import FeedRefused
from shipping.pickup_feeds.formats import FORMATS, find_format, read_feed
from shipping.pickup_feeds.lines import Line
from shipping.pickup_feeds.operations import Source, Summary, import_points

STDIN = "-"


class Command(OperatorCommand):
    help = "Imports a carrier's feed of pickup points, and closes points that are no longer in it."
    examples = {
        "import_pickup_points packeta branch.json box.json": "both files are one feed; repeated, nothing changes",
        "import_pickup_points packeta branch.json box.json --dry-run": "only count the changes",
        "import_pickup_points gls - --format csv": "read the feed from standard input",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("carrier", type=_parse_carrier, help="the carrier, as in the shipping methods")
        parser.add_argument(
            "files", nargs="+", metavar="FILE", help="files of the feed, in UTF-8; - for standard input"
        )
        parser.add_argument("--format", choices=FORMATS, help="required if the file's suffix doesn't tell it")
        parser.add_argument("--partial", action="store_true", help="don't close points that the feed lacks")
        parser.add_argument(
            "--force",
            action="store_true",
            help="import even if that closes more than half of the active points",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would change without changing anything"
        )
        add_json_option(parser)

    def handle(self, *args: object, **options: Any) -> None:
        started = monotonic()
        with ExitStack() as files, tqdm(unit="B", unit_scale=True, disable=None) as bar:
            sources = [_open_source(name, options["format"], files, bar) for name in options["files"]]
            try:
                summary = import_points(
                    carrier=options["carrier"],
                    sources=sources,
                    now=timezone.now(),
                    is_partial=options["partial"],
                    is_forced=options["force"],
                    is_dry_run=options["dry_run"],
                )
            except FeedRefused as refused:
                raise CommandError(f"Nothing was imported. {refused}") from None
        for message in summary.messages:
            self.stderr.write(message)
        if left := summary.refused - len(summary.messages):
            self.stderr.write(f"and {left} more")
        if options["json"]:
            self.write_json(_count(summary) | {"dry_run": options["dry_run"]})
        else:
            self._show(summary, seconds=monotonic() - started, is_dry_run=options["dry_run"])

    def _show(self, summary: Summary, *, seconds: float, is_dry_run: bool) -> None:
        self.stdout.write(
            f"{'would be ' if is_dry_run else ''}added {summary.added}, changed {summary.changed},"
            f" closed {summary.closed}, refused {summary.refused}"
        )
        self.stdout.write(
            f"{summary.lines:,} lines in {seconds:.1f} s, {summary.lines / seconds:,.0f} per second"
        )


def _count(summary: Summary) -> dict[str, object]:
    names = ("added", "changed", "closed", "refused", "lines")
    return {name: getattr(summary, name) for name in names}


def _parse_carrier(text: str) -> str:
    try:
        return token(text)
    except ValidationFailed as refusal:
        raise ArgumentTypeError(refusal.errors[0].detail) from None


def _open_source(name: str, format_name: str | None, files: ExitStack, bar: tqdm) -> Source:
    found = format_name or find_format(Path(name).suffix)
    if found is None:
        raise CommandError(f"The format of {name!r} is unknown. Set it with --format.")
    if name == STDIN:
        return Source("standard input", _read_lines(sys.stdin.buffer, found, bar))
    # Opened before anything is read, so that a wrong name is noticed at once.
    file = files.enter_context(open_file(name))
    bar.total = (bar.total or 0) + Path(name).stat().st_size
    return Source(name, _read_lines(file, found, bar))


def _read_lines(file: BinaryIO, format_name: str, bar: tqdm) -> Iterator[Line]:
    return read_feed(io.BufferedReader(ProgressReader(file, bar), 1 << 16), format_name=format_name)
