"""What the files of other shop systems contain, in our terms. Amounts are in cents, weights in grams."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from .files import Row, Table

# Tax classes of products here.
EXEMPT = "exempt"
STANDARD = "standard"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a line isn't taken over, or not as it is in the file."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantDraft:
    line: int
    sku: str
    title: str
    weight_grams: int
    tax_class: str
    track_inventory: bool
    allow_backorder: bool
    # None if the file has no price.
    price_cents: int | None
    compare_at_price_cents: int | None
    # Units on hand. None if stock isn't counted, or if the file has none.
    stock: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductDraft:
    line: int
    handle: str
    title: str
    description: str
    # "draft" or "active".
    status: str
    variants: tuple[VariantDraft, ...]
    # What the merchant should look at, although the product is taken over.
    notes: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StockDraft:
    """Units of a variant at a location, which is named as in the other shop system."""

    line: int
    sku: str
    location: str
    on_hand: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerDraft:
    line: int
    email: str
    first_name: str
    last_name: str
    phone: str
    country_code: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A product, level or customer that can't be taken over: nothing of it is."""

    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Skipped:
    """What this product has no place for, such as an archived product or a line with just a picture."""

    line: int
    reason: str


Draft = ProductDraft | StockDraft | CustomerDraft
Parsed = Draft | Refused | Skipped


@dataclass(frozen=True, slots=True)
class Settings:
    """What the files don't say."""

    # The digits after the point of the market's currency; None for files without prices.
    currency_digits: int | None
    # In the shop's time zone: sales in WooCommerce begin and end at midnight.
    today: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One kind of file. `required` tells it by the header; `used` are the columns that are taken over."""

    name: str
    required: frozenset[str]
    used: frozenset[str]
    has_prices: bool = False
    has_stock: bool = False
    parse: Callable[[Table, Settings], Iterator[Parsed]]


def refuse(row: Row, reason: str) -> Refused:
    return Refused((Problem(row.line, reason),))
