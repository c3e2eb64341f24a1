"""The totals of a cart: pure arithmetic on its lines' price snapshots, in cents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from commerce.money import tax_of


class LinePrice(NamedTuple):
    """The price of a line with and without tax, in cents. Tax is rounded once per line, so units may not add up to it."""

    quantity: int
    tax_rate_bp: int
    unit_with_tax_cents: int
    unit_without_tax_cents: int
    with_tax_cents: int
    without_tax_cents: int

    @property
    def tax_cents(self) -> int:
        return self.with_tax_cents - self.without_tax_cents


def price_line(*, unit_price_cents: int, quantity: int, tax_rate_bp: int, includes_tax: bool) -> LinePrice:
    """Price a line. `unit_price_cents` is gross or net, like the market's prices when the line was priced."""
    # For display only: the tax of a line is computed from the whole line, and may differ from the units' by some cents.
    unit_tax_cents = tax_of(unit_price_cents, tax_rate_bp, includes_tax=includes_tax)
    line_cents = unit_price_cents * quantity
    line_tax_cents = tax_of(line_cents, tax_rate_bp, includes_tax=includes_tax)
    # By position: by name takes twice the time, for each line of a cart that is read.
    if includes_tax:
        return LinePrice(
            quantity,
            tax_rate_bp,
            unit_price_cents,
            unit_price_cents - unit_tax_cents,
            line_cents,
            line_cents - line_tax_cents,
        )
    return LinePrice(
        quantity,
        tax_rate_bp,
        unit_price_cents + unit_tax_cents,
        unit_price_cents,
        line_cents + line_tax_cents,
        line_cents,
    )


@dataclass(frozen=True, slots=True)
class CartTotals:
    """The sums of a cart's lines. There are no discounts before checkout, so the total is the gross subtotal."""

    subtotal_with_tax_cents: int
    subtotal_without_tax_cents: int
    line_count: int
    item_count: int

    @property
    def total_cents(self) -> int:
        return self.subtotal_with_tax_cents

    @property
    def tax_cents(self) -> int:
        return self.subtotal_with_tax_cents - self.subtotal_without_tax_cents


def compute_cart_totals(lines: Sequence[LinePrice]) -> CartTotals:
    return CartTotals(
        subtotal_with_tax_cents=sum(line.with_tax_cents for line in lines),
        subtotal_without_tax_cents=sum(line.without_tax_cents for line in lines),
        line_count=len(lines),
        item_count=sum(line.quantity for line in lines),
    )
