from .basket import Basket
from .cuts import Cut, compute_cents_off
from .rules import Rule


class Remaining:
    """What remains of the prices while rules are applied, and the units that no deal has used yet."""

    def __init__(self, basket: Basket) -> None:
        self.basket = basket
        self.line_cents = [line.price_cents for line in basket.lines]
        # While none is chosen, rules on shipping have an obstacle and aren't applied.
        self.shipping_cents = basket.shipping_cents or 0
        self.unused_units = [line.quantity for line in basket.lines]

    @property
    def line_discounts(self) -> tuple[int, ...]:
        both = zip(self.basket.lines, self.line_cents, strict=True)
        return tuple(line.price_cents - cents for line, cents in both)

    @property
    def shipping_discount_cents(self) -> int:
        return (self.basket.shipping_cents or 0) - self.shipping_cents

    def price_cents(self, rule: Rule) -> int:
        """The sum in cents of what remains of the prices that the rule lowers."""
        if rule.is_on_shipping:
            return self.shipping_cents
        return sum(self.line_cents[position] for position in rule.target.positions(self.basket.lines))

    def apply(self, rule: Rule) -> int:
        """Subtract what the rule takes off, and return it in cents."""
        if rule.is_on_shipping:
            off_cents = compute_cents_off(self.shipping_cents, rule.value_mode, rule.value_amount)
            self.shipping_cents -= off_cents
            return off_cents
        # A config is required when a discount is saved. A row without one takes nothing off, but stops no checkout.
        if rule.mechanic.column and rule.config is None:
            return 0
        cut = self.limit(rule.mechanic.cut(rule, rule.config, self))
        for position, cents in cut.items():
            self.line_cents[position] -= cents
        return sum(cut.values())

    def limit(self, cut: Cut) -> Cut:
        """Limit a cut to what remains of each line, as a rounded share may exceed it."""
        return {position: min(max(cents, 0), self.line_cents[position]) for position, cents in cut.items()}
