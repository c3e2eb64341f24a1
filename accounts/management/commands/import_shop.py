import io
from argparse import ArgumentParser
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.core.management.base import CommandError
from django.utils import timezone
from tqdm import tqdm

from accounts.management.terminal import find_account_id
from accounts.models import Account, Market
from accounts.queries import current_account
from accounts.shop_import.drafts import Format, Settings
from accounts.shop_import.files import FileRefused, Table
from accounts.shop_import.imports import Import, Places, Tally, open_export
from accounts.shop_import.operations import Target
from commerce.backoffice.measures import count_digits
from commerce.commands import OperatorCommand, ProgressReader, add_json_option, open_file
from commerce.inventory.models import Location
from commerce.tenancy.scope import account_scope

_COUNTS = ("added", "changed", "unchanged", "refused", "skipped")


class Command(OperatorCommand):
    help = (
        "Imports products, stock and customers from the CSV files that Shopify and WooCommerce export, as they are."
        " What each file contains is seen from its header. Lines that can't be taken over are listed with the reason."
    )
    examples = {
        "import_shop my-shop products_export.csv --market de --dry-run": "only tell what would be imported",
        "import_shop my-shop products_export.csv customers_export.csv --market de": (
            "add what is missing; repeated, nothing changes"
        ),
        "import_shop my-shop products_export.csv --market de --update": (
            "also change products, prices and stock that differ from the file"
        ),
        'import_shop my-shop inventory_export.csv --location "Warehouse Berlin=main"': (
            "stock at a location that has another name here"
        ),
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("account", metavar="HANDLE", help="the account to import into")
        parser.add_argument("files", nargs="+", metavar="FILE", help="files as they were exported, in UTF-8")
        parser.add_argument(
            "--market",
            metavar="HANDLE",
            help="the market whose prices the files have; can be left out if there is only one",
        )
        parser.add_argument(
            "--location",
            action="append",
            default=[],
            metavar="[NAME=]HANDLE",
            help="the location of the stock (default: the first active one by priority). With a name, that of the location with"
            " this name in the file; repeat it for each",
        )
        parser.add_argument(
            "--update",
            action="store_true",
            help="also change what is here already and differs from the files, stock too; by default, only what is"
            " missing is added",
        )
        parser.add_argument("--dry-run", action="store_true", help="store nothing")
        add_json_option(parser)

    def handle(self, *args: object, **options: Any) -> None:
        account_id = find_account_id(options["account"])
        with ExitStack() as files, tqdm(unit="B", unit_scale=True, disable=None) as bar:
            # All headers are read before anything is imported, so that a wrong file is noticed at once.
            exports = [(name, *_open_export(name, files, bar)) for name in options["files"]]
            run = _prepare(account_id, [known for _, _, known in exports], options)
            refused = sum(self._import(run, *export, is_json=options["json"]) for export in exports)
        if refused:
            raise CommandError(
                f"{refused} refused. Correct them and repeat: what has been imported isn't imported again."
            )

    def _import(self, run: Import, name: str, table: Table, known: Format, *, is_json: bool) -> int:
        """Import a file, and tell what became of it. Return how much of it was refused."""
        tally = run.run(table, known)
        for kind, problem in tally.messages:
            self.stderr.write(f"{name}:{problem.line}: {kind}: {problem.reason}")
        if tally.further:
            self.stderr.write(f"and {tally.further} more")
        if is_json:
            counts = {each: getattr(tally, each) for each in _COUNTS}
            row = {"file": name, "content": tally.name, **counts, "left_out": tally.left_out}
            self.write_json(row | {"dry_run": run.is_dry_run})
        else:
            self._show(name, tally, is_dry_run=run.is_dry_run)
        if tally.stopped:
            raise CommandError(
                f"{name}: {tally.stopped} Correct it and repeat: what has been imported isn't imported again."
            )
        return tally.refused

    def _show(self, name: str, tally: Tally, *, is_dry_run: bool) -> None:
        counts = ", ".join(f"{each} {getattr(tally, each)}" for each in _COUNTS)
        self.stdout.write(f"{name}: {tally.name}: {'would be ' if is_dry_run else ''}{counts}")
        if tally.left_out:
            columns = ", ".join(f"{column} ({count})" for column, count in tally.left_out.items())
            self.stdout.write(f"{name}: columns that have no place here: {columns}")


def _open_export(name: str, files: ExitStack, bar: tqdm) -> tuple[Table, Format]:
    file = files.enter_context(open_file(name))
    bar.total = (bar.total or 0) + Path(name).stat().st_size
    try:
        return open_export(io.BufferedReader(ProgressReader(file, bar), 1 << 16))
    except FileRefused as refused:
        raise CommandError(f"{name}: {refused} Nothing was imported.") from None


def _prepare(account_id: int, formats: Iterable[Format], options: dict[str, Any]) -> Import:
    now = timezone.now()
    with account_scope(account_id):
        account = current_account()
        if account.status == Account.Status.ARCHIVED:
            raise CommandError(f"Account {account.handle!r} is archived.")
        market = _find_market(options["market"]) if any(each.has_prices for each in formats) else None
        settings = Settings(
            currency_digits=count_digits(market.currency) if market else None,
            today=now.astimezone(ZoneInfo(account.default_timezone)).date(),
        )
        places = _find_places(market, options["location"])
    return Import(
        account_id=account_id,
        places=places,
        settings=settings,
        now=now,
        updates=options["update"],
        is_dry_run=options["dry_run"],
    )


def _find_market(handle: str | None) -> Market:
    markets = list(Market.objects.order_by("pk"))
    if handle is None:
        active = [market for market in markets if market.status == Market.Status.ACTIVE]
        if len(active) == 1:
            return active[0]
        names = ", ".join(market.handle for market in markets) or "none"
        raise CommandError(f"Name the market of the prices with --market. There are: {names}.")
    found = next((market for market in markets if market.handle == handle), None)
    if found is None:
        raise CommandError(f"There is no market {handle!r}.")
    return found


def _find_places(market: Market | None, named: Iterable[str]) -> Places:
    """Find the location of stock, and those that have other names in the files."""
    locations = list(Location.objects.order_by("priority", "pk"))
    by_handle = {location.handle: location.pk for location in locations}
    by_name = {location.name.lower(): location.pk for location in locations}
    # Only what an active location has can be sold.
    first = next((location for location in locations if location.is_active), locations[0]).pk
    for text in named:
        name, _, handle = text.rpartition("=")
        if handle not in by_handle:
            raise CommandError(f"There is no location {handle!r}.")
        if name:
            by_name[name.strip().lower()] = by_handle[handle]
        else:
            first = by_handle[handle]
    target = Target(market_id=market.pk, location_id=first) if market else None
    return Places(products=target, locations=by_name)
