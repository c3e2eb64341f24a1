"""Load a cart with all of its lines in one statement, without model objects: carts are read most often."""

from dataclasses import dataclass
from typing import NamedTuple

import orjson

from carts.errors import CurrencyMismatch, PricingNotFound, VariantNotFound
from commerce.errors import NotFound
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Call, Prepared, Result, send
from commerce.wording import Wording

from .totals import LinePrice, price_line

# Of a cart with the alias c, for `CartRow`.
CART_COLUMNS = """
    c.id, c.token, c.market_id, c.customer_id, c.currency, c.locale, c.prices_include_tax,
    CASE WHEN c.status = 'active' AND c.expires_at <= now() THEN 'expired' ELSE c.status END,
    to_char(c.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
"""
# Lines are ordered as they were added. Variants that are no longer on sale keep their lines, which checkout refuses.
_CART = Prepared(
    f"""
    SELECT {CART_COLUMNS},
           l.id, l.variant_id, v.product_id, v.sku, p.title, v.title, l.quantity,
           l.custom_attributes::text, l.custom_attributes_hash, l.unit_price_cents, l.tax_rate_bp, l.price_includes_tax,
           v.weight_grams, v.tax_class, v.archived_at IS NULL AND p.status = 'active'
      FROM carts c
      LEFT JOIN cart_line_items l ON l.account_id = c.account_id AND l.cart_id = c.id
      LEFT JOIN variants v ON v.account_id = l.account_id AND v.id = l.variant_id
      LEFT JOIN products p ON p.account_id = v.account_id AND p.id = v.product_id
     WHERE c.account_id = %s AND c.token = %s
     ORDER BY l.id
    """,  # noqa: S608  the columns are constant
    reads=True,
)

# The current offer of a variant in the market of a cart. The product is null if the variant is unknown, archived or not yet
# published. A tax class without a rate in the market's country is taxed at 0.
# The account is given for each table, although the tables' policies and the joins imply it. Otherwise the plan for any
# account rests on the statistics of the one for which it happens to be made, and may read all variants of a larger one.
_OFFER = """
    SELECT c.id, c.currency, o.id, p.currency, p.price_cents, COALESCE(t.rate_bp, 0), m.prices_include_tax
      FROM {cart} c
      JOIN markets m ON m.account_id = %(account_id)s AND m.id = c.market_id
      LEFT JOIN variants v ON v.account_id = %(account_id)s AND v.id = %(variant_id)s AND v.archived_at IS NULL
      LEFT JOIN products o ON o.account_id = %(account_id)s AND o.id = v.product_id AND o.status = 'active'
      LEFT JOIN variant_pricing p ON p.account_id = %(account_id)s AND p.variant_id = v.id AND p.market_id = m.id
      LEFT JOIN tax_rates t ON t.account_id = %(account_id)s AND t.country_code = m.country_code
           AND t.tax_class = v.tax_class
     WHERE c.account_id = %(account_id)s
"""
_OFFER_TO_CART = Prepared(f"{_OFFER.format(cart='carts')} AND c.token = %(token)s", reads=True)


class LineRow(NamedTuple):
    id: int
    variant_id: int
    product_id: int
    sku: str
    product_title: str
    variant_title: str
    quantity: int
    custom_attributes: str
    custom_attributes_hash: str
    unit_price_cents: int
    tax_rate_bp: int
    price_includes_tax: bool
    weight_grams: int
    tax_class: str
    is_on_sale: bool

    @property
    def attributes(self) -> dict[str, object]:
        return orjson.loads(self.custom_attributes)

    @property
    def title(self) -> str:
        return f"{self.product_title} - {self.variant_title}" if self.variant_title else self.product_title


class CartRow(NamedTuple):
    """Timestamps are formatted by the database, because parsing and formatting them here would be slower."""

    id: int
    token: str
    market_id: int
    customer_id: int | None
    currency: str
    locale: str
    prices_include_tax: bool
    status: str
    expires_at: str
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class LoadedCart:
    """A cart with its lines and their prices."""

    cart: CartRow
    lines: list[tuple[LineRow, LinePrice]]


class Offer(NamedTuple):
    """The price of a variant in a market: cents, the tax rate, and whether the cents include the tax."""

    unit_price_cents: int
    tax_rate_bp: int
    includes_tax: bool


def get_cart(token: str) -> LoadedCart:
    """Load the cart with this token in the account in scope; raises `NotFound`."""
    (found,) = send(cart_query(token))
    return read_cart(found)


def cart_query(token: str) -> Call:
    """Ask for a cart with its lines, for `read_cart`."""
    return _CART.call([current_account_id(), token])


def read_cart(found: Result) -> LoadedCart:
    """Read the result of `cart_query`; raises `NotFound`."""
    if not found.rows:
        raise NotFound
    width = len(CartRow._fields)
    # An empty cart is one row, whose columns of the line are null.
    lines = [LineRow._make(row[width:]) for row in found.rows if row[width] is not None]
    return LoadedCart(CartRow._make(found.rows[0][:width]), [(line, _price(line)) for line in lines])


def prepare_offer(locking: str) -> Prepared:
    """Prepare a statement that locks a cart and returns a variant's current offer, for `read_offer`.

    The UPDATE `locking` returns the cart's columns. There is no row if it locks none.
    """
    return Prepared(f"WITH locked AS ({locking}) {_OFFER.format(cart='locked')}")


def offer_query(token: str, variant_id: int) -> Call:
    """Ask for a variant's current price for a cart, for `read_offer`."""
    which = {"account_id": current_account_id(), "token": token, "variant_id": variant_id}
    return _OFFER_TO_CART.call(which)


def read_offer(found: Result) -> Offer:
    """Read the offer that was asked for. Raises `VariantNotFound`, `PricingNotFound`, `CurrencyMismatch`."""
    [(_, cart_currency, product_id, price_currency, price_cents, tax_rate_bp, includes_tax)] = found.rows
    if product_id is None:
        raise VariantNotFound
    if price_cents is None:
        raise PricingNotFound
    # The market's currency may have changed since the cart was created. A price can't be converted.
    if price_currency != cart_currency:
        raise CurrencyMismatch(
            Wording(
                "The variant is priced in %(currency)s, the cart is in %(cart_currency)s.",
                currency=price_currency,
                cart_currency=cart_currency,
            ),
            cart_currency=cart_currency,
            pricing_currency=price_currency,
        )
    return Offer(price_cents, tax_rate_bp, includes_tax)


def _price(line: LineRow) -> LinePrice:
    return price_line(
        unit_price_cents=line.unit_price_cents,
        quantity=line.quantity,
        tax_rate_bp=line.tax_rate_bp,
        includes_tax=line.price_includes_tax,
    )
