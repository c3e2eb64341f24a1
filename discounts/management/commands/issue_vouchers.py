from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils import timezone
from tqdm import tqdm

from accounts.management.terminal import csv_writer, find_account_id, parse_moment, show_refusals
from commerce.commands import OperatorCommand
from commerce.formats import timestamp
from commerce.tenancy.scope import account_scope
from discounts.models import Voucher
from discounts.vouchers.operations import issue_vouchers
from discounts.vouchers.rules import check_voucher

_BATCH = 500


class Command(OperatorCommand):
    help = "Issues gift cards with the same balance, and writes their codes as CSV."
    examples = {
        "issue_vouchers my-shop --count 10000 --amount 2500 --currency EUR --output codes.csv": (
            "10,000 of 25.00 EUR; repeated, it issues none because the file exists"
        ),
        "issue_vouchers my-shop --count 50 --amount 1000 --currency EUR --expires-at 2027-12-31T23:00:00Z": (
            "write the codes to standard output; each run issues 50 more"
        ),
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("account", metavar="HANDLE", help="the account that issues them")
        parser.add_argument("--count", type=_parse_count, required=True, help="number of gift cards")
        parser.add_argument(
            "--amount", type=int, required=True, metavar="CENTS", help="balance of each gift card"
        )
        parser.add_argument("--currency", required=True, help="ISO 4217 code")
        parser.add_argument(
            "--expires-at",
            type=parse_moment,
            metavar="TIMESTAMP",
            help="ISO 8601 with an offset; by default they don't expire",
        )
        parser.add_argument(
            "--output", type=Path, metavar="FILE", help="write to this new file instead of standard output"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        account_id, now = find_account_id(options["account"]), timezone.now()
        with show_refusals():
            # Checked before a file is created for the codes.
            check_voucher(_read_terms(options), now=now)
        with (
            csv_writer(options["output"], self.stdout) as writer,
            tqdm(total=options["count"], unit="card", disable=None) as bar,
        ):
            writer.writerow(("code", "currency", "initial_balance_cents", "expires_at"))
            for vouchers in _issue_in_batches(account_id, options, now=now):
                writer.writerows(
                    (
                        voucher.code,
                        voucher.currency,
                        voucher.initial_balance_cents,
                        timestamp(voucher.expires_at),
                    )
                    for voucher in vouchers
                )
                bar.update(len(vouchers))


def _issue_in_batches(account_id: int, options: dict[str, Any], *, now: datetime) -> Iterator[list[Voucher]]:
    """Issue gift cards in batches. Yields a batch only after its commit, so that no invalid code is written."""
    for start in range(0, options["count"], _BATCH):
        with account_scope(account_id):
            vouchers = issue_vouchers(
                count=min(_BATCH, options["count"] - start),
                **_read_terms(options),
                actor="command:issue_vouchers",
                now=now,
            )
        yield vouchers


def _read_terms(options: Mapping[str, object]) -> dict[str, Any]:
    return {
        "initial_balance_cents": options["amount"],
        "currency": options["currency"],
        "expires_at": options["expires_at"],
    }


def _parse_count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise ArgumentTypeError("must be an integer of at least 1")
    return int(text)
