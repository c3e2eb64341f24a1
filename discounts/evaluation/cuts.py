"""What one rule takes off the lines. A cut is the cents by the line's position; what remains is never exceeded."""

from collections.abc import Sequence

from commerce.money import allocate, share

from .basket import Line
from .rules import BulkTiers, Rule, Scope, Target, ValueMode

Cut = dict[int, int]


def cents_off(price_cents: int, mode: ValueMode | None, amount: int | None, *, units: int = 1) -> int:
    """What a value takes off the price of some units, where cents are by the unit. Never more than the price.

    A value that lacks its amount takes nothing off.
    """
    if mode == ValueMode.FREE:
        return price_cents
    if amount is None:
        return 0
    match mode:
        case ValueMode.PERCENTAGE:
            off_cents = share(price_cents, amount)
        case ValueMode.FIXED_AMOUNT:
            off_cents = amount * units
        case ValueMode.SET_PRICE:
            off_cents = price_cents - amount * units
        case _:
            off_cents = 0
    return min(max(off_cents, 0), price_cents)


def split(rule: Rule, lines: Sequence[Line], remaining: Sequence[int]) -> Cut:
    """One value off the sum of the target lines, split by what remains of each."""
    positions = rule.target.positions(lines)
    weights = [remaining[position] for position in positions]
    off_cents = cents_off(sum(weights), rule.value_mode, rule.value_amount)
    return dict(zip(positions, allocate(off_cents, weights), strict=True)) if off_cents else {}


def bulk(tiers: BulkTiers, target: Target, lines: Sequence[Line], remaining: Sequence[int]) -> Cut:
    """The value of the tier reached, off every unit of the target lines."""
    positions = target.positions(lines)
    together = sum(lines[position].quantity for position in positions)
    cut = {}
    for position in positions:
        units = lines[position].quantity
        tier = tiers.reached(together if tiers.scope == Scope.ORDER else units)
        if tier:
            price_cents = remaining[position]
            cut[position] = cents_off(price_cents, tier.value_mode, tier.value_amount, units=units)
    return cut
