"""Totals of a checkout, put together from what is frozen and what is entered, and written to its columns."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db import connection

from checkouts.models import Checkout, CheckoutLineItem
from checkouts.totals import AMOUNTS, Charge, Line, compute_totals
from commerce.payments.connectors import get_connector
from commerce.tenancy.scope import current_account_id
from discounts import evaluation
from discounts.evaluation import Basket, Evaluation, Rule
from discounts.in_force import rules_in_force
from discounts.shoppers import shopper_for
from discounts.vouchers.holds import usable_vouchers

# What pricing sets, for `save(update_fields=...)`.
PRICED = ("discount_codes", "automatic_discounts", *AMOUNTS)

_SAVE_LINES = """
    UPDATE checkout_line_items l SET discount_cents = new.discount_cents
      FROM unnest(%s::bigint[], %s::bigint[]) AS new (id, discount_cents)
     WHERE l.account_id = %s AND l.id = new.id
"""


def reprice(checkout: Checkout, lines: Sequence[CheckoutLineItem], *, now: datetime) -> None:
    """Evaluate every discount anew and set the totals; the lines' shares are saved, `PRICED` the caller saves."""
    automatic, entered = rules_in_force(entered_ids=entered_discount_ids(checkout), now=now)
    evaluated = _evaluate(checkout, lines, automatic, entered, now=now)
    _name_discounts(checkout, [*automatic, *entered], evaluated)
    _share_out(checkout, lines, evaluated)
    apply_totals(checkout, lines, now=now)


def apply_totals(checkout: Checkout, lines: Sequence[CheckoutLineItem], *, now: datetime) -> None:
    """Set the totals from the lines, shipping, fee and gift cards, with the discounts as they are."""
    totals = compute_totals(
        lines=[_line(line) for line in lines],
        shipping=_shipping(checkout),
        cod_fee=_cod_fee(checkout),
        prices_include_tax=checkout.prices_include_tax,
    )
    paid_cents = _pay_by_gift_card(checkout, totals.total_cents, now=now)
    totals = replace(totals, gift_card_cents=paid_cents, amount_due_cents=totals.total_cents - paid_cents)
    for amount in AMOUNTS:
        setattr(checkout, amount, getattr(totals, amount))


def basket_of(checkout: Checkout, lines: Sequence[CheckoutLineItem]) -> Basket:
    """What discounts are evaluated on: prices gross or net, as the market's are."""
    shipping = _shipping(checkout)
    return Basket(
        lines=tuple(_basket_line(line, includes_tax=checkout.prices_include_tax) for line in lines),
        currency=checkout.currency,
        market_id=checkout.market_id,
        shipping_cents=shipping.price_cents if shipping else None,
    )


def entered_discount_ids(checkout: Checkout) -> list[int]:
    return [int(entry["discount_id"]) for entry in checkout.discount_codes if entry["discount_id"]]


def _evaluate(
    checkout: Checkout,
    lines: Sequence[CheckoutLineItem],
    automatic: Sequence[Rule],
    entered: Sequence[Rule],
    *,
    now: datetime,
) -> Evaluation:
    shopper = shopper_for(
        [*automatic, *entered],
        customer_id=checkout.customer_id,
        email=checkout.email,
        checkout_id=checkout.pk,
    )
    return evaluation.evaluate(
        basket_of(checkout, lines), automatic=automatic, entered=entered, shopper=shopper, now=now
    )


def _name_discounts(checkout: Checkout, rules: Sequence[Rule], evaluated: Evaluation) -> None:
    """List what each discount takes off: codes as entered, also those that take nothing; the others as applied."""
    by_id = {rule.id: rule for rule in rules}
    amounts = {applied.discount_id: str(applied.amount_cents) for applied in evaluated.applied}
    checkout.discount_codes = [
        entry
        if entry["voucher_id"]
        else entry | {"amount_cents": amounts.get(int(entry["discount_id"]), "0")}
        for entry in checkout.discount_codes
    ]
    checkout.automatic_discounts = [
        {
            "discount_id": str(discount_id),
            "title": by_id[discount_id].title,
            "type": by_id[discount_id].type,
            "amount_cents": amount_cents,
        }
        for discount_id, amount_cents in amounts.items()
        if by_id[discount_id].code is None
    ]


def _share_out(checkout: Checkout, lines: Sequence[CheckoutLineItem], evaluated: Evaluation) -> None:
    checkout.shipping_discount_cents = evaluated.shipping_discount_cents
    changed = [
        (line, discount_cents)
        for line, discount_cents in zip(lines, evaluated.line_discounts, strict=True)
        if line.discount_cents != discount_cents
    ]
    for line, discount_cents in changed:
        line.discount_cents = discount_cents
    # The lines of a checkout that is being made are inserted with their shares.
    if changed and checkout.pk:
        ids, discounts = [line.pk for line, _ in changed], [cents for _, cents in changed]
        with connection.cursor() as cursor:
            cursor.execute(_SAVE_LINES, [ids, discounts, current_account_id()])


def _pay_by_gift_card(checkout: Checkout, total_cents: int, *, now: datetime) -> int:
    """Let each gift card pay what is left of the total, as far as it has it; the sum in cents."""
    voucher_ids = [int(entry["voucher_id"]) for entry in checkout.discount_codes if entry["voucher_id"]]
    cards = usable_vouchers(ids=voucher_ids, currency=checkout.currency, now=now) if voucher_ids else []
    available = {card.id: card.payable_cents for card in cards}
    left_cents = total_cents
    entries = []
    for entry in checkout.discount_codes:
        if entry["voucher_id"]:
            paid_cents = min(left_cents, available.get(int(entry["voucher_id"]), 0))
            left_cents -= paid_cents
            entries.append(entry | {"amount_cents": str(paid_cents)})
        else:
            entries.append(entry)
    checkout.discount_codes = entries
    return total_cents - left_cents


def _basket_line(line: CheckoutLineItem, *, includes_tax: bool) -> evaluation.Line:
    price_cents = line.line_total_with_tax_cents if includes_tax else line.line_total_without_tax_cents
    return evaluation.Line(
        variant_id=line.variant_id,
        product_id=line.product_id,
        quantity=line.quantity,
        price_cents=price_cents,
    )


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
