"""Computes what one rule takes off the lines. A `Cut` maps positions of lines to cents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commerce.money import allocate, share

from .basket import Line

# `rules` imports `mechanic`, which imports this module.
if TYPE_CHECKING:
    from .rules import Rule

Cut = dict[int, int]


def compute_cents_off(price_cents: int, mode: str | None, amount: int | None, *, units: int = 1) -> int:
    """Compute what a value takes off the price of some units, in cents. Never more than the price.

    `amount` is in basis points for a percentage, and otherwise in cents per unit. A value that lacks its amount takes
    nothing off.
    """
    if mode == "free":
        return price_cents
    if amount is None:
        return 0
    match mode:
        case "percentage":
            off_cents = share(price_cents, amount)
        case "fixed_amount":
            off_cents = amount * units
        case "set_price":
            off_cents = price_cents - amount * units
        case _:
            off_cents = 0
    # A set price above the price must not raise it.
    return min(max(off_cents, 0), price_cents)


def split_value(rule: "Rule", lines: Sequence[Line], remaining: Sequence[int]) -> Cut:
    """Take the rule's value off the sum of its target lines, split in proportion to what remains of each."""
    positions = rule.target.positions(lines)
    weights = [remaining[position] for position in positions]
    # Computed from the sum, so that the value is rounded once, not for each line.
    off_cents = compute_cents_off(sum(weights), rule.value_mode, rule.value_amount)
    return dict(zip(positions, allocate(off_cents, weights), strict=True)) if off_cents else {}
