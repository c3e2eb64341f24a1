"""WooCommerce's exports of products and customers. A variable product and its variations have a row each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from .drafts import (
    EXEMPT,
    STANDARD,
    CustomerDraft,
    Format,
    Parsed,
    Problem,
    ProductDraft,
    Refused,
    Settings,
    Skipped,
    VariantDraft,
    refuse,
)
from .files import Row, Table
from .values import (
    CellRefused,
    build_handle,
    build_sku,
    parse_amount,
    parse_grams,
    parse_units,
)

# A variation that has the tax class, or the stock, of its product.
PARENT = "parent"

_WEIGHT = re.compile(r"Weight \((\w+)\)")
_ATTRIBUTES = tuple(f"Attribute {number} value(s)" for number in range(1, 11))


@dataclass(slots=True)
class _Family:
    """A variable product with its variations, which may be anywhere in the file."""

    parent: Row | None = None
    variations: list[Row] = field(default_factory=list)


def parse_products(table: Table, settings: Settings) -> Iterator[Parsed]:
    """Turn rows into products. Those with variations come last, as their rows needn't follow each other."""
    handles: set[str] = set()
    families: dict[str, _Family] = {}
    # Variations name their product by its SKU, or by its id if it has none.
    for row in table:
        kinds = {kind.strip() for kind in row.get("Type").split(",")}
        if row.problem:
            yield refuse(row, row.problem)
        elif "variable" in kinds:
            name = row.get("SKU") or f"id:{row.get('ID')}"
            family = families.setdefault(name, _Family())
            if family.parent is None:
                family.parent = row
            else:
                yield refuse(row, f"The product {name} is on line {family.parent.line} already.")
        elif "variation" in kinds:
            families.setdefault(row.get("Parent"), _Family()).variations.append(row)
        elif "simple" in kinds:
            yield _parse_product(row, [row], settings, handles)
        else:
            yield Skipped(
                row.line, f"A product of the type {row.get('Type')!r} isn't a single thing to sell."
            )
    for name, family in families.items():
        if family.parent is None:
            yield from (refuse(row, f"Its product {name!r} isn't in the file.") for row in family.variations)
        else:
            yield _parse_product(family.parent, family.variations, settings, handles)


def _parse_product(parent: Row, rows: list[Row], settings: Settings, handles: set[str]) -> Parsed:
    handle = build_handle(parent.get("Name"))
    if handle in handles:
        handle = build_handle(f"{handle}-{parent.get('ID') or parent.get('SKU')}")
    handles.add(handle)
    problems: list[Problem] = []
    notes: list[Problem] = []
    variants: list[VariantDraft] = []
    for row in rows:
        try:
            # A variation that is on is -1 as long as its product is a draft.
            if row is not parent and row.get("Published") == "0":
                notes.append(Problem(row.line, "A variation that is switched off isn't taken over."))
            else:
                variants.append(_VariantReader(handle, parent, row, settings, notes).read())
        except CellRefused as refused:
            problems.append(Problem(row.line, str(refused)))
    if not variants and not problems:
        return Skipped(parent.line, f"{parent.get('Name')} has no variation that could be sold.")
    if problems:
        return Refused(tuple(problems))
    return ProductDraft(
        line=parent.line,
        handle=handle,
        title=parent.get("Name"),
        description=_join_descriptions(parent),
        status="active" if parent.get("Published") == "1" else "draft",
        variants=tuple(variants),
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class _VariantReader:
    """Reads a simple product or a variation. What a variation leaves empty is as in its product."""

    handle: str
    parent: Row
    row: Row
    settings: Settings
    notes: list[Problem]

    def read(self) -> VariantDraft:
        title = "" if self.row is self.parent else self._build_title()
        sku = self.row.get("SKU")
        if not sku:
            sku = build_sku(self.handle, title)
            self._note(f"It has no SKU and gets {sku}.")
        is_tracked, stock = self._read_stock(sku)
        price_cents, compare_at_cents = self._read_prices()
        return VariantDraft(
            line=self.row.line,
            sku=sku,
            title=title,
            weight_grams=self._read_weight(),
            tax_class=self._read_tax_class(),
            track_inventory=is_tracked,
            allow_backorder=self.row.get("Backorders allowed?") in {"1", "notify"},
            price_cents=price_cents,
            compare_at_price_cents=compare_at_cents,
            stock=stock,
        )

    def _build_title(self) -> str:
        # A variation without a value for an attribute stands for all values.
        values = [value.replace("\\,", ",") for name in _ATTRIBUTES if (value := self.row.get(name))]
        return " / ".join(values)

    def _read_stock(self, sku: str) -> tuple[bool, int | None]:
        """Whether stock is counted, and how many units there are."""
        text = self.row.get("Stock")
        if text == PARENT:
            self._note(f"{sku} shares the stock of its product. It gets none: count its units.")
            # Not 0, which would replace the units that were counted here since.
            return True, None
        if not text:
            # Without counted units, the product says only whether it can be bought.
            return (False, None) if self.row.get("In stock?") != "0" else (True, 0)
        stock = parse_units("Stock", text)
        if stock < 0:
            self._note(f"The stock of {sku} is {stock}, and becomes 0.")
        return True, max(stock, 0)

    def _read_prices(self) -> tuple[int | None, int | None]:
        """The price that counts today, and the usual one during a sale."""
        digits = self.settings.currency_digits or 0
        regular = parse_amount("Regular price", self.row.get("Regular price"), digits=digits)
        sale = parse_amount("Sale price", self.row.get("Sale price"), digits=digits)
        if regular is None:
            self._note("It has no price, so it can't be sold yet.")
            return None, None
        if sale is None or sale >= regular:
            return regular, None
        starts, ends = self._read_day("Date sale price starts"), self._read_day("Date sale price ends")
        today = self.settings.today
        if (starts and today < starts) or (ends and ends < today):
            self._note("Its sale isn't on today, so it has the regular price.")
            return regular, None
        if ends:
            self._note(f"Its sale ends on {ends}. Set the regular price then.")
        return sale, regular

    def _read_day(self, column: str) -> date | None:
        text = self.row.get(column)
        try:
            return date.fromisoformat(text[:10]) if text else None
        except ValueError:
            raise CellRefused(f"{column}: {text} isn't a day such as 2026-12-31.") from None

    def _read_weight(self) -> int:
        for row in (self.row, self.parent):
            for column, text in row.cells.items():
                if unit := _WEIGHT.fullmatch(column):
                    return parse_grams(column, text, unit=unit[1])
        return 0

    def _read_tax_class(self) -> str:
        status = self.row.get("Tax status") or self.parent.get("Tax status")
        if status in {"none", "shipping"}:
            return EXEMPT
        name = self.row.get("Tax class")
        return (self.parent.get("Tax class") if name == PARENT else name) or STANDARD

    def _note(self, reason: str) -> None:
        self.notes.append(Problem(self.row.line, reason))


def _join_descriptions(row: Row) -> str:
    texts = (row.get("Short description"), row.get("Description"))
    return "\n\n".join(_decode_lines(text) for text in texts if text)


def _decode_lines(text: str) -> str:
    r"""WooCommerce writes line ends as \n, and \n itself with another backslash."""
    return "\\n".join(part.replace("\\n", "\n") for part in text.split("\\\\n"))


def parse_customers(table: Table, settings: Settings) -> Iterator[Parsed]:
    for row in table:
        email = row.get("Email")
        # There is one column for the whole name.
        first_name, _, last_name = row.get("Name").partition(" ")
        if row.problem:
            yield refuse(row, row.problem)
        elif not email:
            yield Skipped(row.line, "It has no email address.")
        else:
            yield CustomerDraft(
                line=row.line,
                email=email,
                first_name=first_name,
                last_name=last_name.strip(),
                phone="",
                country_code=row.get("Country / Region"),
            )


PRODUCTS = Format(
    name="WooCommerce's products",
    required=frozenset({"Type", "SKU", "Name", "Published", "Regular price"}),
    used=frozenset(
        {"ID", "Type", "SKU", "Name", "Published", "Short description", "Description", "Date sale price starts", "Date sale price ends",
         "Tax status", "Tax class", "In stock?", "Stock", "Backorders allowed?", "Sale price", "Regular price", "Parent"}
    )
    | {f"Weight ({unit})" for unit in ("kg", "g", "lbs", "oz")}
    | set(_ATTRIBUTES)
    | {f"Attribute {number} name" for number in range(1, 11)},
    has_prices=True,
    has_stock=True,
    parse=parse_products,
)  # fmt: skip
CUSTOMERS = Format(
    name="WooCommerce's customers",
    required=frozenset({"Name", "Username", "Email"}),
    used=frozenset({"Name", "Email", "Country / Region"}),
    parse=parse_customers,
)
FORMATS = (PRODUCTS, CUSTOMERS)
