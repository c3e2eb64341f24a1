"""The totals of a checkout: pure arithmetic, in cents. Amounts are gross or net, like the market's prices.

docs/pricing.md names every intermediate price and says where it is rounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from commerce.money import Taxed, apply_tax

NOTHING = Taxed(net_cents=0, tax_cents=0)


@dataclass(frozen=True, slots=True)
class Line:
    """A frozen line: its price for all units, with and without tax, and its share of the discounts."""

    with_tax_cents: int
    without_tax_cents: int
    tax_rate_bp: int
    discount_cents: int = 0


@dataclass(frozen=True, slots=True)
class Charge:
    """Shipping or the cash-on-delivery fee: the listed price, and what a discount takes off."""

    price_cents: int
    tax_rate_bp: int
    discount_cents: int = 0

    def without_tax(self, *, includes_tax: bool) -> "Charge":
        """Return the charge at its price without tax. The discount stays the same, as it was taken off this price."""
        price = apply_tax(self.price_cents, self.tax_rate_bp, includes_tax=includes_tax)
        return replace(self, price_cents=price.net_cents, tax_rate_bp=0)


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a checkout; the fields are named like its columns."""

    subtotal_with_tax_cents: int
    subtotal_without_tax_cents: int
    discount_cents: int
    shipping_cents: int
    shipping_discount_cents: int
    shipping_tax_cents: int
    cod_fee_cents: int
    cod_fee_tax_cents: int
    tax_cents: int
    total_cents: int
    gift_card_cents: int
    amount_due_cents: int


AMOUNTS = tuple(field.name for field in fields(Totals))


def compute_totals(
    *,
    lines: Sequence[Line],
    shipping: Charge | None,
    cod_fee: Charge | None,
    prices_include_tax: bool,
    gift_card_cents: int = 0,
) -> Totals:
    """Compute the tax of each line after its discount, of shipping and of the fee, each rounded half up once."""
    shipping_charge = _tax_charge(shipping, includes_tax=prices_include_tax)
    fee_charge = _tax_charge(cod_fee, includes_tax=prices_include_tax)
    taxed_lines = [_tax_line(line, includes_tax=prices_include_tax) for line in lines]
    charges = [*taxed_lines, shipping_charge, fee_charge]
    total_cents = sum(charge.gross_cents for charge in charges)
    return Totals(
        subtotal_with_tax_cents=sum(line.with_tax_cents for line in lines),
        subtotal_without_tax_cents=sum(line.without_tax_cents for line in lines),
        discount_cents=sum(line.discount_cents for line in lines),
        shipping_cents=_pick_side(shipping_charge, includes_tax=prices_include_tax),
        shipping_discount_cents=shipping.discount_cents if shipping else 0,
        shipping_tax_cents=shipping_charge.tax_cents,
        cod_fee_cents=_pick_side(fee_charge, includes_tax=prices_include_tax),
        cod_fee_tax_cents=fee_charge.tax_cents,
        tax_cents=sum(charge.tax_cents for charge in charges),
        total_cents=total_cents,
        gift_card_cents=gift_card_cents,
        amount_due_cents=total_cents - gift_card_cents,
    )


def _tax_line(line: Line, *, includes_tax: bool) -> Taxed:
    if not line.discount_cents:
        # Without a discount, the frozen tax is kept: computing it from the line's total could differ by a cent.
        return Taxed(net_cents=line.without_tax_cents, tax_cents=line.with_tax_cents - line.without_tax_cents)
    listed_cents = line.with_tax_cents if includes_tax else line.without_tax_cents
    return apply_tax(listed_cents - line.discount_cents, line.tax_rate_bp, includes_tax=includes_tax)


def _tax_charge(charge: Charge | None, *, includes_tax: bool) -> Taxed:
    if charge is None:
        return NOTHING
    return apply_tax(
        charge.price_cents - charge.discount_cents, charge.tax_rate_bp, includes_tax=includes_tax
    )


def _pick_side(charge: Taxed, *, includes_tax: bool) -> int:
    """The amount as the market shows its prices: gross or net."""
    return charge.gross_cents if includes_tax else charge.net_cents
