"""Exports rows of one account as CSV, for accounting."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from django.core.management.base import CommandError
from tqdm import tqdm

from accounts.management.terminal import csv_writer, find_account_id
from accounts.queries import current_account
from commerce.backoffice.export import list_columns, read_cells
from commerce.commands import OperatorCommand
from commerce.loops.operations import continue_after_failure
from commerce.tenancy.models import AccountOwned
from commerce.tenancy.scope import account_scope

_PAGE = 1000


class RowsExport(OperatorCommand):
    """A command that writes the rows created within a period, oldest first, to standard output or a new file.

    Times without an offset are in the account's time zone. Memory doesn't grow with the number of rows, and no
    transaction stays open while a slow reader takes them.
    """

    model: ClassVar[type[AccountOwned]]
    time_field = "created_at"
    related: ClassVar[tuple[str, ...]] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("account", metavar="HANDLE")
        parser.add_argument(
            "--since",
            type=_parse_time,
            metavar="TIME",
            help="export rows created at or after this time: ISO 8601, a date is enough",
        )
        parser.add_argument(
            "--until", type=_parse_time, metavar="TIME", help="export rows created before this time"
        )
        parser.add_argument(
            "--output", type=Path, metavar="FILE", help="write to this new file instead of standard output"
        )

    def columns(self) -> Sequence[str]:
        """The header of the table."""
        return list_columns(self.model)

    def cells(self, row: Any) -> Sequence[object]:
        """A row's values, in the order of `columns`."""
        return read_cells(row)

    def handle(self, *args: Any, **options: Any) -> None:
        account_id = find_account_id(options["account"])
        with account_scope(account_id):
            zone = ZoneInfo(current_account().default_timezone)
        window = {"gte": options["since"], "lt": options["until"]}
        filters = {
            f"{self.time_field}__{bound}": time if time.tzinfo else time.replace(tzinfo=zone)
            for bound, time in window.items()
            if time is not None
        }
        left_out: list[int] = []
        with csv_writer(options["output"], self.stdout) as writer:
            writer.writerow(self.columns())
            for row in tqdm(self._read_rows(account_id, filters), unit="row", disable=None):
                # The export goes on after a row that can't be written. The error is logged, and the row is named below.
                cells = None
                with continue_after_failure(
                    "export", account=account_id, table=self.model._meta.db_table, row=row.pk
                ):
                    cells = self.cells(row)
                if cells is None:
                    left_out.append(row.pk)
                else:
                    writer.writerow(cells)
        if left_out:
            raise CommandError(
                f"These rows failed and were left out (the log says why): {', '.join(map(str, left_out))}"
            )

    def _read_rows(self, account_id: int, filters: Mapping[str, object]) -> Iterator[AccountOwned]:
        """Read page by page, each in a scope of its own, which is closed while the page is written."""
        after_id = 0
        while True:
            with account_scope(account_id):
                rows = (
                    # Without arguments, select_related() would follow every foreign key.
                    self.model.objects.select_related(*self.related) if self.related else self.model.objects
                )
                page = list(rows.filter(pk__gt=after_id, **filters).order_by("pk")[:_PAGE])
            yield from page
            if len(page) < _PAGE:
                return
            after_id = page[-1].pk


def _parse_time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError("must be an ISO 8601 time, such as 2026-11-01") from None
