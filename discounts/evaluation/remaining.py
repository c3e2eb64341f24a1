from .basket import Basket
from .cuts import Cut, bulk, cents_off, split
from .deals import best_deal, deal_cut
from .rules import Bogo, BulkTiers, Rule, RuleType


class Remaining:
    """What is left of the prices while rules are applied, and the units that no buy-x-get-y rule has used."""

    def __init__(self, basket: Basket) -> None:
        self.basket = basket
        self.line_cents = [line.price_cents for line in basket.lines]
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
        """What remains of that which the rule is on."""
        if rule.is_on_shipping:
            return self.shipping_cents
        return sum(self.line_cents[position] for position in rule.target.positions(self.basket.lines))

    def apply(self, rule: Rule) -> int:
        """Take off what the rule is worth, and say how many cents that is."""
        if rule.is_on_shipping:
            off_cents = cents_off(self.shipping_cents, rule.value_mode, rule.value_amount)
            self.shipping_cents -= off_cents
            return off_cents
        cut = self._cut(rule)
        for position, cents in cut.items():
            self.line_cents[position] -= cents
        return sum(cut.values())

    def _cut(self, rule: Rule) -> Cut:
        lines = self.basket.lines
        match rule:
            case Rule(type=RuleType.GIFT_CARD):
                # It pays for the order at the end, and is no price cut.
                return {}
            case Rule(type=RuleType.BUY_X_GET_Y, bogo_config=Bogo() as bogo):
                return self._use_units(bogo)
            case Rule(type=RuleType.BULK_PRICING, bulk_tiers=BulkTiers() as tiers):
                return bulk(tiers, rule.target, lines, self.line_cents)
        return split(rule, lines, self.line_cents)

    def _use_units(self, bogo: Bogo) -> Cut:
        deal = best_deal(bogo, self.basket.lines, self.unused_units)
        # Of a price that doesn't divide by the units, the parts that two deals take may be rounded up to more than it.
        cut = {
            position: min(cents, self.line_cents[position])
            for position, cents in deal_cut(bogo, self.basket.lines, deal).items()
        }
        # A deal that is worth nothing leaves its units to the next one.
        if any(cut.values()):
            for units_by_position in (deal.bought, deal.rewarded):
                for position, units in units_by_position.items():
                    self.unused_units[position] -= units
        return cut
