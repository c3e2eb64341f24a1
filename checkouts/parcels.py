"""The parcel to quote shipping for. A quote reads only the columns that it needs, as shoppers ask for many."""

from collections.abc import Sequence
from typing import NamedTuple

from checkouts.errors import InvalidPhase
from checkouts.models import CheckoutLineItem, pick_listed_cents
from checkouts.phases import ALLOWED_PHASES
from checkouts.queries import LoadedCheckout
from commerce.errors import NotFound
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, send
from shipping.matching import Parcel

_READ = Prepared(
    """
    SELECT k.phase, k.shipping_address IS NOT NULL, k.shipping_address->>'country_code', k.shipping_address->>'zip',
           k.currency, k.market_id, k.prices_include_tax,
           l.weight_grams, l.quantity, l.line_total_with_tax_cents, l.line_total_without_tax_cents
      FROM checkouts k
      LEFT JOIN checkout_line_items l ON l.account_id = k.account_id AND l.checkout_id = k.id
     WHERE k.account_id = %s AND k.token = %s
    """,
    reads=True,
)


class _Destination(NamedTuple):
    phase: str
    has_address: bool
    country_code: str | None
    zip: str | None
    currency: str
    market_id: int
    prices_include_tax: bool


class _Goods(NamedTuple):
    weight_grams: int
    quantity: int
    line_total_with_tax_cents: int
    line_total_without_tax_cents: int


def build_parcel(loaded: LoadedCheckout) -> Parcel:
    """Build the parcel of a checkout that was loaded."""
    checkout = loaded.checkout
    address = checkout.shipping_address or {}
    destination = _Destination(
        phase=checkout.phase,
        has_address=checkout.shipping_address is not None,
        country_code=address.get("country_code"),
        zip=address.get("zip"),
        currency=checkout.currency,
        market_id=checkout.market_id,
        prices_include_tax=checkout.prices_include_tax,
    )
    return _build(destination, loaded.lines)


def build_parcel_to_quote(token: str) -> Parcel:
    """Build the parcel of a checkout that has an address. Raises `NotFound` and `InvalidPhase`."""
    (found,) = send(_READ.call([current_account_id(), token]))
    if not found.rows:
        raise NotFound
    width = len(_Destination._fields)
    destination = _Destination._make(found.rows[0][:width])
    if not destination.has_address:
        allowed = [phase.value for phase in ALLOWED_PHASES["shipping"]]
        raise InvalidPhase("The checkout has no address yet.", phase=destination.phase, allowed=allowed)
    goods = [_Goods._make(row[width:]) for row in found.rows if row[width] is not None]
    return _build(destination, goods)


def _build(to: _Destination, goods: Sequence["_Goods | CheckoutLineItem"]) -> Parcel:
    """Add up the weight, the units, and the goods' price before discounts.

    Uses the frozen prices, so that entering a VAT number doesn't change the options.
    """
    return Parcel(
        country_code=to.country_code or "",
        zip=to.zip or "",
        weight_grams=sum(line.weight_grams * line.quantity for line in goods),
        quantity=sum(line.quantity for line in goods),
        subtotal_cents=sum(
            pick_listed_cents(line, prices_include_tax=to.prices_include_tax) for line in goods
        ),
        currency=to.currency,
        market_id=to.market_id,
    )
