"""Reads the cells of exported files. Exact: there are no floats."""

import re
import unicodedata
from decimal import ROUND_HALF_UP, Decimal
from hashlib import sha256

from commerce.catalog.rules import MAX_PRICE_CENTS, MAX_SKU, MAX_WEIGHT_GRAMS
from commerce.inventory.rules import MAX_DELTA

MAX_HANDLE = 63
# How many characters of a hash make a shortened name different from others.
_HASH = 8

_DECIMAL = re.compile(r"(-?)(\d{1,18})(?:[.,](\d{1,12}))?")
_NOT_IN_HANDLES = re.compile(r"[^a-z0-9]+")
# The international pound and ounce, in grams.
_GRAMS = {"kg": Decimal(1000), "g": Decimal(1), "lbs": Decimal("453.59237"), "oz": Decimal("28.349523125")}


class CellRefused(ValueError):
    """A cell can't be taken over. The message names its column and says why."""


def parse_amount(column: str, text: str, *, digits: int) -> int | None:
    """Read an amount, such as 19.90, as cents of a currency with this many digits after the point. None if empty.

    There may be a point or a comma before the decimals, and nothing between thousands. Raises `CellRefused`, also if
    the currency has fewer decimals.
    """
    if not text:
        return None
    sign, whole, decimals = _split(column, text)
    if sign:
        raise CellRefused(f"{column}: {text} is negative.")
    # 1,250 may be 1250 written by a spreadsheet.
    if len(decimals) == 3 and digits < 3:
        raise CellRefused(f"{column}: {text} could be two different amounts.")
    kept, rest = decimals[:digits].ljust(digits, "0"), decimals[digits:]
    if rest.strip("0"):
        raise CellRefused(f"{column}: {text} has more than {digits} decimals.")
    cents = int(whole + kept)
    if cents > MAX_PRICE_CENTS:
        raise CellRefused(f"{column}: {text} is too large.")
    return cents


def parse_units(column: str, text: str) -> int:
    """Read a number of units, which may be negative. There is nothing between thousands. Raises `CellRefused`."""
    sign, whole, decimals = _split(column, text)
    units = int(sign + whole)
    # 1,000 may be 1000 written by a spreadsheet.
    if len(decimals) == 3:
        raise CellRefused(f"{column}: {text} could be two different numbers.")
    if decimals.strip("0"):
        raise CellRefused(f"{column}: {text} isn't a whole number.")
    if abs(units) > MAX_DELTA:
        raise CellRefused(f"{column}: {text} is too large.")
    return units


def parse_grams(column: str, text: str, *, unit: str) -> int:
    """Read a weight in kg, g, lbs or oz, rounded half up to grams. An empty one is 0. Raises `CellRefused`."""
    if not text:
        return 0
    if unit not in _GRAMS:
        raise CellRefused(f"{column}: {unit} is an unknown unit of weight.")
    sign, whole, decimals = _split(column, text)
    # 1,250 g may be 1250 written by a spreadsheet. In larger units, three decimals are usual.
    if unit == "g" and "," in text and len(decimals) == 3:
        raise CellRefused(f"{column}: {text} could be two different weights.")
    exact = Decimal(f"{sign}{whole}.{decimals or 0}") * _GRAMS[unit]
    grams = int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))
    if not 0 <= grams <= MAX_WEIGHT_GRAMS:
        raise CellRefused(f"{column}: {text} isn't a weight that can be stored.")
    return grams


def parse_flag(column: str, text: str, *, default: bool) -> bool:
    """Read TRUE and FALSE, yes and no, 1 and 0, in any case. Raises `CellRefused`."""
    flags = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": default}
    if text.lower() not in flags:
        raise CellRefused(f"{column}: {text} is neither true nor false.")
    return flags[text.lower()]


def build_handle(text: str) -> str:
    """Make a handle of a name or of another system's handle. The same text always gives the same handle.

    A handle that is valid already is kept. Letters lose their accents; what is too long or has no Latin letters or
    digits gets a part of its hash.
    """
    ascii_text = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode()
    handle = _NOT_IN_HANDLES.sub("-", ascii_text.lower()).strip("-")
    if not handle:
        return f"product-{_hash(text)}"
    return _shorten(handle, MAX_HANDLE, text)


def build_sku(handle: str, title: str) -> str:
    """Make a SKU for a variant without one. The same handle and title always give the same SKU."""
    sku = f"{handle}-{build_handle(title)}" if title else handle
    return _shorten(sku, MAX_SKU, f"{handle}\n{title}")


def _split(column: str, text: str) -> tuple[str, str, str]:
    """Split a number into its sign, its digits before the point, and those after it."""
    found = _DECIMAL.fullmatch(text) if text.isascii() else None
    if found is None:
        raise CellRefused(f"{column}: {text} isn't a number.")
    sign, whole, decimals = found.groups()
    return sign, whole, decimals or ""


def _shorten(name: str, length: int, source: str) -> str:
    if len(name) <= length:
        return name
    return f"{name[: length - _HASH - 1].rstrip('-')}-{_hash(source)}"


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_HASH]
