"""Shopify's exports of products, stock and customers. Products have a row for each variant and each further picture."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

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
    StockDraft,
    VariantDraft,
    refuse,
)
from .files import Row, Table
from .values import (
    CellRefused,
    build_handle,
    build_sku,
    parse_amount,
    parse_flag,
    parse_grams,
    parse_units,
)

# Shopify has used two sets of names; each tuple has both.
HANDLE = ("Handle", "URL handle")
TITLE = ("Title",)
DESCRIPTION = ("Body (HTML)", "Description")
PUBLISHED = ("Published", "Published on online store")
STATUS = ("Status",)
OPTIONS = tuple((f"Option{number} Value", f"Option{number} value") for number in (1, 2, 3))
OPTION_NAMES = tuple((f"Option{number} Name", f"Option{number} name") for number in (1, 2, 3))
SKU = ("Variant SKU", "SKU")
GRAMS = ("Variant Grams", "Weight value (grams)")
TRACKER = ("Variant Inventory Tracker", "Inventory tracker")
QUANTITY = ("Variant Inventory Qty", "Inventory quantity")
POLICY = ("Variant Inventory Policy", "Continue selling when out of stock")
PRICE = ("Variant Price", "Price")
COMPARE_AT = ("Variant Compare At Price", "Compare-at price")
TAXABLE = ("Variant Taxable", "Charge tax")
GIFT_CARD = ("Gift Card", "Gift card")

# The option of a product that comes in one version only.
ONLY_VERSION = "Default Title"
NOT_STOCKED = "not stocked"


def parse_products(table: Table, settings: Settings) -> Iterator[Parsed]:
    """Turn rows into products. Rows of a product follow each other."""
    seen: set[str] = set()
    for handle, rows in groupby(table, key=lambda row: row.get(*HANDLE)):
        group = list(rows)
        if not handle:
            yield from (refuse(row, "It has no handle.") for row in group)
        elif handle in seen:
            # Importing them alone would lose what the first rows say of the whole product.
            yield refuse(group[0], f"The rows of {handle} don't follow each other.")
        else:
            seen.add(handle)
            yield _parse_product(handle, group, settings)


def _parse_product(handle: str, rows: list[Row], settings: Settings) -> Parsed:
    first = rows[0]
    status = first.get(*STATUS).lower()
    if status == "archived":
        return Skipped(first.line, f"{handle} is archived.")
    if first.get(*GIFT_CARD).lower() == "true":
        return Skipped(first.line, f"{handle} is a gift card.")
    problems: list[Problem] = []
    notes: list[Problem] = []
    variants: list[VariantDraft] = []
    own_handle = build_handle(handle)
    for row in rows:
        if row.problem:
            problems.append(Problem(row.line, row.problem))
        elif row.get(*PRICE, *SKU, *OPTIONS[0]):
            try:
                variants.append(_parse_variant(own_handle, row, settings, notes))
            except CellRefused as refused:
                problems.append(Problem(row.line, str(refused)))
    if not variants and not problems:
        problems.append(Problem(first.line, f"{handle} has no variant."))
    if problems:
        return Refused(tuple(problems))
    if own_handle != handle:
        notes.insert(0, Problem(first.line, f"The handle {handle} becomes {own_handle}."))
    status = _read_status(first, notes)
    return ProductDraft(
        line=first.line,
        handle=own_handle,
        title=first.get(*TITLE),
        description=first.get(*DESCRIPTION),
        status=status,
        variants=tuple(variants),
        notes=tuple(notes),
    )


def _read_status(first: Row, notes: list[Problem]) -> str:
    status = first.get(*STATUS).lower()
    # Such as "unlisted": sold to those who have the link, but not shown.
    if status not in {"", "active", "draft"}:
        notes.insert(0, Problem(first.line, f"The status {status} becomes draft."))
    is_draft = status not in {"", "active"} or first.get(*PUBLISHED).lower() == "false"
    return "draft" if is_draft else "active"


def _parse_variant(handle: str, row: Row, settings: Settings, notes: list[Problem]) -> VariantDraft:
    values = [value for names in OPTIONS if (value := row.get(*names))]
    title = "" if values == [ONLY_VERSION] else " / ".join(values)
    is_tracked = bool(row.get(*TRACKER))
    sku = row.get(*SKU)
    if not sku:
        sku = build_sku(handle, title)
        notes.append(Problem(row.line, f"It has no SKU and gets {sku}."))
    stock = None
    if is_tracked and (quantity := row.get(*QUANTITY)):
        stock = parse_units("Quantity", quantity)
        if stock < 0:
            notes.append(Problem(row.line, f"The stock of {sku} is {stock}, and becomes 0."))
            stock = 0
    price_cents, compare_at_cents = _parse_prices(row, settings, notes)
    return VariantDraft(
        line=row.line,
        sku=sku,
        title=title,
        weight_grams=parse_grams("Grams", row.get(*GRAMS), unit="g"),
        tax_class=STANDARD if parse_flag("Taxable", row.get(*TAXABLE), default=True) else EXEMPT,
        track_inventory=is_tracked,
        # "continue" in the older files, and a flag in the newer ones.
        allow_backorder=row.get(*POLICY).lower() in {"continue", "true"},
        price_cents=price_cents,
        compare_at_price_cents=compare_at_cents,
        stock=stock,
    )


def _parse_prices(row: Row, settings: Settings, notes: list[Problem]) -> tuple[int | None, int | None]:
    digits = settings.currency_digits or 0
    price_cents = parse_amount("Price", row.get(*PRICE), digits=digits)
    compare_at_cents = parse_amount("Compare-at price", row.get(*COMPARE_AT), digits=digits)
    if price_cents is None:
        notes.append(Problem(row.line, "It has no price, so it can't be sold yet."))
        return None, None
    # Shopify exports 0 for none.
    return price_cents, compare_at_cents or None


def parse_stock(table: Table, settings: Settings) -> Iterator[Parsed]:
    """Turn rows into stock levels. There are files with one column of units, and files with a column for each state."""
    for row in table:
        # What isn't promised to anybody: open orders stay with Shopify.
        units = row.get("Available (not editable)", "Available", "On hand")
        if row.problem:
            yield refuse(row, row.problem)
        elif not units or units.lower() == NOT_STOCKED:
            yield Skipped(row.line, f"{row.get('SKU', 'Handle')} isn't stocked at {row.get('Location')}.")
        else:
            yield _parse_level(row, units)


def _parse_level(row: Row, units: str) -> Parsed:
    handle, values = row.get("Handle"), [value for names in OPTIONS if (value := row.get(*names))]
    title = "" if values == [ONLY_VERSION] else " / ".join(values)
    try:
        on_hand = parse_units("Units", units)
    except CellRefused as refused:
        return refuse(row, str(refused))
    return StockDraft(
        line=row.line,
        sku=row.get("SKU") or build_sku(build_handle(handle), title),
        location=row.get("Location"),
        on_hand=max(on_hand, 0),
    )


def parse_customers(table: Table, settings: Settings) -> Iterator[Parsed]:
    for row in table:
        email = row.get("Email")
        if row.problem:
            yield refuse(row, row.problem)
        elif not email:
            yield Skipped(row.line, "It has no email address.")
        else:
            yield CustomerDraft(
                line=row.line,
                email=email,
                first_name=row.get("First Name"),
                last_name=row.get("Last Name"),
                phone=row.get("Phone", "Default Address Phone"),
                country_code=row.get("Default Address Country Code", "Country Code"),
                tags=tuple(tag for text in row.get("Tags").split(",") if (tag := text.strip())),
            )


def _join(*groups: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for group in groups for name in group)


_PRODUCT_COLUMNS = _join(
    HANDLE, TITLE, DESCRIPTION, PUBLISHED, STATUS, *OPTIONS, *OPTION_NAMES, SKU, GRAMS, TRACKER, QUANTITY, POLICY, PRICE,
    COMPARE_AT, TAXABLE, GIFT_CARD,
)  # fmt: skip

PRODUCTS = Format(
    name="Shopify's products",
    required=frozenset({"Handle", "Title", "Variant Price"}),
    used=_PRODUCT_COLUMNS,
    has_prices=True,
    has_stock=True,
    parse=parse_products,
)
NEWER_PRODUCTS = replace(PRODUCTS, required=frozenset({"URL handle", "Title", "Price"}))
STOCK = Format(
    name="Shopify's stock",
    required=frozenset({"Handle", "SKU", "Location"}),
    used=frozenset(
        {
            "Handle",
            "Title",
            "SKU",
            "Location",
            "On hand",
            "On hand (current)",
            "On hand (new)",
            "Available",
            "Available (not editable)",
        }
    )
    | _join(*OPTIONS, *OPTION_NAMES),
    has_stock=True,
    parse=parse_stock,
)
CUSTOMERS = Format(
    name="Shopify's customers",
    required=frozenset({"First Name", "Last Name", "Email"}),
    used=frozenset(
        {"First Name", "Last Name", "Email", "Phone", "Default Address Phone", "Default Address Country Code",
         "Country Code", "Tags"}
    ),
    parse=parse_customers,
)  # fmt: skip
FORMATS = (PRODUCTS, NEWER_PRODUCTS, STOCK, CUSTOMERS)
