from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from tqdm import tqdm

from commerce.tenancy.scope import account_scope
from discounts.vouchers.exports import COLUMNS, ledger_rows
from discounts.vouchers.terminal import account_named, csv_writer, moment


class Command(BaseCommand):
    help = "Writes the ledger of an account's gift cards as CSV, oldest entry first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("account", metavar="HANDLE")
        parser.add_argument("--since", type=moment, metavar="TIMESTAMP", help="ISO 8601 with an offset")
        parser.add_argument("--until", type=moment, metavar="TIMESTAMP", help="not included")
        parser.add_argument(
            "--output", type=Path, metavar="FILE", help="a new file instead of standard output"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        account_id = account_named(options["account"])
        with csv_writer(options["output"], self.stdout) as writer, account_scope(account_id):
            writer.writerow(COLUMNS)
            rows = ledger_rows(since=options["since"], until=options["until"])
            writer.writerows(tqdm(rows, unit="entry", disable=None))
