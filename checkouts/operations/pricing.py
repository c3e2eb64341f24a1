"""Totals of a checkout, put together from what is frozen and written to its columns."""

from collections.abc import Sequence

from checkouts.models import Checkout, CheckoutLineItem
from checkouts.totals import AMOUNTS, Charge, Line, compute_totals
from commerce.payments.connectors import get_connector


def apply_totals(checkout: Checkout, lines: Sequence[CheckoutLineItem]) -> None:
    """Set the checkout's totals from its lines, its shipping and its payment method; the caller saves it."""
    totals = compute_totals(
        lines=[_line(line) for line in lines],
        shipping=_shipping(checkout),
        cod_fee=_cod_fee(checkout),
        prices_include_tax=checkout.prices_include_tax,
        gift_card_cents=checkout.gift_card_cents,
    )
    for amount in AMOUNTS:
        setattr(checkout, amount, getattr(totals, amount))


def _line(line: CheckoutLineItem) -> Line:
    return Line(
        with_tax_cents=line.line_total_with_tax_cents,
        without_tax_cents=line.line_total_without_tax_cents,
        tax_rate_bp=line.tax_rate_bp,
        discount_cents=line.discount_cents,
    )


def _shipping(checkout: Checkout) -> Charge | None:
    if checkout.shipping_method is None:
        return None
    return Charge(
        price_cents=int(checkout.shipping_method["price_cents"]),
        tax_rate_bp=checkout.shipping_tax_rate_bp,
        discount_cents=checkout.shipping_discount_cents,
    )


def _cod_fee(checkout: Checkout) -> Charge | None:
    connector = get_connector(checkout.payment_method or "")
    if connector is None or not connector.charges_cod_fee or checkout.shipping_method is None:
        return None
    fee_cents = int(checkout.shipping_method["cod_fee_cents"])
    return Charge(price_cents=fee_cents, tax_rate_bp=checkout.shipping_tax_rate_bp)
