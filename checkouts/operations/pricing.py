"""Computes the totals of a checkout and sets its columns."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from checkouts.errors import AmountTooLarge
from checkouts.lines import list_charged_lines
from checkouts.models import Checkout, CheckoutLineItem
from checkouts.totals import AMOUNTS, Charge, Line, compute_totals
from commerce.payments.connectors import get_connector
from commerce.rules import MAX_SAFE_INTEGER
from commerce.taxes.vat import country_of, is_reverse_charge
from discounts.evaluation import Rule

from .discounting import apply_discounts, pay_by_gift_card

# The columns set by pricing, for `save(update_fields=...)`.
PRICED = ("vat", "discount_codes", "automatic_discounts", *AMOUNTS)


def reprice(
    checkout: Checkout, lines: Sequence[CheckoutLineItem], *, known: Sequence[Rule] = (), now: datetime
) -> None:
    """Decide who owes the tax, evaluate all discounts and set the totals, all from scratch.

    `known` is as in `apply_discounts`. Saves the lines' shares of the discounts; the caller saves `PRICED`. Raises `AmountTooLarge`, like `apply_totals`.
    """
    # Before the discounts, which are taken off prices without tax under a reverse charge.
    _decide_reverse_charge(checkout)
    shipping = _make_shipping_charge(checkout)
    shipping_cents = shipping.price_cents if shipping else None
    apply_discounts(checkout, lines, shipping_cents=shipping_cents, known=known, now=now)
    apply_totals(checkout, lines, now=now)


def apply_totals(checkout: Checkout, lines: Sequence[CheckoutLineItem], *, now: datetime) -> None:
    """Set the totals from lines, shipping, fee and gift cards, keeping the discounts."""
    totals = compute_totals(
        lines=[
            Line(
                with_tax_cents=line.line_total_with_tax_cents,
                without_tax_cents=line.line_total_without_tax_cents,
                tax_rate_bp=line.tax_rate_bp,
                discount_cents=line.discount_cents,
            )
            for line in list_charged_lines(checkout, lines)
        ],
        shipping=_make_shipping_charge(checkout),
        cod_fee=_make_cod_fee(checkout),
        prices_include_tax=checkout.prices_include_tax,
    )
    paid_cents = pay_by_gift_card(checkout, totals.total_cents, now=now)
    totals = replace(totals, gift_card_cents=paid_cents, amount_due_cents=totals.total_cents - paid_cents)
    # Each price is within this limit, but not necessarily their sum.
    if any(getattr(totals, amount) > MAX_SAFE_INTEGER for amount in AMOUNTS):
        raise AmountTooLarge
    for amount in AMOUNTS:
        setattr(checkout, amount, getattr(totals, amount))


def _decide_reverse_charge(checkout: Checkout) -> None:
    """Decide from both VAT numbers and the destination as they are now: each may have changed since the last step."""
    vat = checkout.vat
    if vat is None:
        return
    reverse_charge = vat.status == "valid" and is_reverse_charge(
        seller=country_of(checkout.seller_vat_number),
        buyer=vat.country_code,
        destination=(checkout.shipping_address or {}).get("country_code"),
    )
    checkout.vat = replace(vat, reverse_charge=reverse_charge)


def _make_shipping_charge(checkout: Checkout) -> Charge | None:
    if checkout.shipping_method is None:
        return None
    price_cents = checkout.shipping_method.price_cents
    return _make_charge(checkout, price_cents, discount_cents=checkout.shipping_discount_cents)


def _make_cod_fee(checkout: Checkout) -> Charge | None:
    connector = get_connector(checkout.payment_method or "")
    if connector is None or not connector.charges_cod_fee or checkout.shipping_method is None:
        return None
    return _make_charge(checkout, checkout.shipping_method.cod_fee_cents)


def _make_charge(checkout: Checkout, price_cents: int, *, discount_cents: int = 0) -> Charge:
    """Build a charge, without tax under a reverse charge."""
    charge = Charge(price_cents, checkout.shipping_tax_rate_bp, discount_cents)
    return (
        charge.without_tax(includes_tax=checkout.prices_include_tax) if checkout.is_reverse_charge else charge
    )
