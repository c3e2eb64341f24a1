"""Imports the files of another shop system into an account, and counts what became of their lines."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import BinaryIO, TypeVar

from django.db import transaction

from commerce.customers.models import normalise_email
from commerce.tenancy.scope import account_scope

from . import shopify, woocommerce
from .drafts import (
    CustomerDraft,
    Draft,
    Format,
    Parsed,
    Problem,
    ProductDraft,
    Refused,
    Settings,
    Skipped,
    StockDraft,
    VariantDraft,
)
from .files import FileRefused, Table, read_table
from .operations import (
    Change,
    DraftRefused,
    Target,
    VariantMissing,
    import_customer,
    import_level,
    import_product,
)

FORMATS: tuple[Format, ...] = (*shopify.FORMATS, *woocommerce.FORMATS)
# Customers that share a transaction. A product and a level have their own: they lock stock, which is locked in one order.
_BATCH = 100
MAX_MESSAGES = 1000

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where prices and stock go. `locations` has the ids of locations by their names, in lower case."""

    # None if there are only files without prices.
    products: Target | None = None
    locations: Mapping[str, int] = field(default_factory=dict)


class Kind(StrEnum):
    """What a message says of its line: nothing of it is stored, it has no place here, or it is stored differently."""

    REFUSED = "refused"
    SKIPPED = "skipped"
    NOTE = "note"


@dataclass(slots=True)
class Tally:
    """What became of a file: counts of its products, levels or customers, and messages about the first lines."""

    name: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: int = 0
    skipped: int = 0
    messages: list[tuple[Kind, Problem]] = field(default_factory=list)
    # Messages that aren't kept.
    further: int = 0
    # Why the file couldn't be read to its end; empty if it was.
    stopped: str = ""
    # How many cells are filled in each column that has no place here.
    left_out: dict[str, int] = field(default_factory=dict)

    def count(self, change: Change) -> None:
        setattr(self, change, getattr(self, change) + 1)

    def tell(self, kind: Kind, problems: Iterable[Problem]) -> None:
        for problem in problems:
            if len(self.messages) < MAX_MESSAGES:
                self.messages.append((kind, problem))
            else:
                self.further += 1


def detect_format(table: Table) -> Format:
    """Find out by the header what a file contains. Raises `FileRefused`."""
    found = next((each for each in FORMATS if each.required <= set(table.columns)), None)
    if found is None:
        raise FileRefused(
            "It isn't an export of Shopify or WooCommerce that is known, with column names in English."
        )
    return found


def open_export(file: BinaryIO) -> tuple[Table, Format]:
    """Read a file's header. Raises `FileRefused`."""
    table = read_table(file)
    return table, detect_format(table)


@dataclass(slots=True, kw_only=True)
class Import:
    """The import of one or more files into an account. Call its methods outside of any scope."""

    account_id: int
    places: Places
    settings: Settings
    now: datetime
    # Whether rows that are here already are changed to what the files say.
    updates: bool = False
    # Whether nothing is stored; the tally is the same.
    is_dry_run: bool = False
    # By SKU, what a dry run would have stored, for the stock in later files.
    _variants: dict[str, VariantDraft] = field(default_factory=dict)

    def run(self, table: Table, known: Format) -> Tally:
        """Import a file, row by row.

        Each product is stored as a whole or not at all, and so is each level and each customer. An interruption leaves
        what came before, and so does a line that can't be read: then the tally says why it `stopped`.
        """
        tally = Tally(known.name)
        drafts = _stop_at_error(_refuse_repeated(known.parse(table, self.settings)), tally)
        for batch in _take(drafts, 1 if known.has_stock else _BATCH):
            with account_scope(self.account_id):
                for parsed in batch:
                    self._handle(parsed, tally)
                if self.is_dry_run:
                    transaction.set_rollback(True)
        tally.left_out = {name: count for name, count in table.filled.items() if name not in known.used}
        return tally

    def _handle(self, parsed: Parsed, tally: Tally) -> None:
        match parsed:
            case Refused(problems):
                tally.refused += 1
                tally.tell(Kind.REFUSED, problems)
            case Skipped(line, reason):
                tally.skipped += 1
                tally.tell(Kind.SKIPPED, [Problem(line, reason)])
            case _:
                try:
                    change = self._store(parsed)
                except DraftRefused as refused:
                    tally.refused += 1
                    tally.tell(Kind.REFUSED, refused.problems)
                else:
                    tally.count(change)
                    if isinstance(parsed, ProductDraft) and change is not Change.UNCHANGED:
                        tally.tell(Kind.NOTE, parsed.notes)

    def _store(self, draft: Draft) -> Change:
        match draft:
            case ProductDraft():
                if self.places.products is None:
                    raise ValueError("Products need a market.")
                change = import_product(
                    draft, target=self.places.products, updates=self.updates, now=self.now
                )
                if self.is_dry_run and change is not Change.UNCHANGED:
                    self._variants.update({variant.sku: variant for variant in draft.variants})
                return change
            case StockDraft():
                return self._store_level(draft)
            case CustomerDraft():
                return import_customer(draft, updates=self.updates, now=self.now)

    def _store_level(self, draft: StockDraft) -> Change:
        location_id = self.places.locations.get(draft.location.lower())
        if location_id is None:
            raise DraftRefused([Problem(draft.line, f"There is no location {draft.location!r}.")])
        try:
            return import_level(draft, location_id=location_id, updates=self.updates, now=self.now)
        except VariantMissing:
            if draft.sku not in self._variants:
                raise
            return self._foresee(draft, self._variants[draft.sku], location_id)

    def _foresee(self, draft: StockDraft, variant: VariantDraft, location_id: int) -> Change:
        """What would become of the stock of a variant that a dry run hasn't stored."""
        target = self.places.products
        on_hand = (variant.stock or 0) if target and target.location_id == location_id else 0
        if not variant.track_inventory or draft.on_hand == on_hand or (on_hand and not self.updates):
            return Change.UNCHANGED
        # Without units there is no level yet.
        return Change.CHANGED if on_hand else Change.ADDED


def _stop_at_error(drafts: Iterable[Parsed], tally: Tally) -> Iterator[Parsed]:
    """End at a line that can't be read, so that a batch that has begun is still stored."""
    try:
        yield from drafts
    except FileRefused as refused:
        tally.stopped = str(refused)


def _refuse_repeated(drafts: Iterable[Parsed]) -> Iterator[Parsed]:
    """Refuse what has the handle, the SKU or the address of an earlier line.

    The database would refuse it too, but not in a dry run, where nothing of the earlier line is stored.
    """
    lines: dict[str, int] = {}
    for draft in drafts:
        names = _list_names(draft)
        repeated = [(line, name) for line, name in names if lines.setdefault(name, line) != line]
        if repeated:
            yield Refused(
                tuple(Problem(line, f"{name} is on line {lines[name]} already.") for line, name in repeated)
            )
        else:
            yield draft


def _list_names(draft: Parsed) -> list[tuple[int, str]]:
    """What may be in a file only once, with its line."""
    match draft:
        case ProductDraft():
            skus = [(variant.line, f"The SKU {variant.sku}") for variant in draft.variants]
            # Different names may become the same handle. Their variants aren't those of one product.
            return [(draft.line, f"The handle {draft.handle}"), *skus]
        case StockDraft():
            return [(draft.line, f"The SKU {draft.sku} at {draft.location}")]
        case CustomerDraft():
            return [(draft.line, f"The address {normalise_email(draft.email)}")]
        case _:
            return []


def _take(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch
