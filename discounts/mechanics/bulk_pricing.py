"""Each unit costs less once a quantity is reached."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from commerce.wording import mark
from discounts.evaluation import (
    VALUE,
    ByQuantity,
    Choice,
    Cut,
    Group,
    Number,
    Remaining,
    Rows,
    Rule,
    Stage,
    compute_cents_off,
)
from discounts.evaluation.config import MAX_QUANTITY, VALUE_MODES

# The form always has this many rows of inputs, and hides the empty ones.
MAX_TIERS = 20

BULK_TIERS = Group(
    "BulkTiers",
    (
        Choice(
            "scope",
            mark("Counted"),
            ("line", "order"),
            labels=(mark("Quantity of a line"), mark("Quantity of all lines")),
        ),
        Rows(
            "tiers",
            Group(
                "Tier",
                (
                    Number("min_quantity", mark("From units"), min_value=1, max_value=MAX_QUANTITY),
                    Choice("value_mode", mark("each reduced by"), VALUE_MODES),
                    VALUE[1],
                ),
            ),
            key="min_quantity",
            max_length=MAX_TIERS,
            add_label=mark("Add a tier"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Tier:
    """What is taken off each unit from a quantity on, in basis points or cents, by value mode."""

    min_quantity: int
    value_mode: str
    value_amount: int | None = None

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> Self:
        return cls(config["min_quantity"], config["value_mode"], config.get("value_amount"))


@dataclass(frozen=True, slots=True)
class BulkTiers:
    """Tiers by the quantity of each line, or by that of all target lines together."""

    scope: str
    tiers: tuple[Tier, ...]

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> Self:
        return cls(scope=config["scope"], tiers=tuple(map(Tier.from_json, config["tiers"])))

    def find_tier(self, quantity: int) -> Tier | None:
        """Return the highest tier that a quantity reaches."""
        within = (tier for tier in self.tiers if tier.min_quantity <= quantity)
        return max(within, key=lambda tier: tier.min_quantity, default=None)


class BulkPricing(ByQuantity):
    type = "bulk_pricing"
    stage = Stage.TIERS
    column = "bulk_tiers"
    config = BULK_TIERS
    config_label = mark("Tiers")
    config_help = mark("The highest tier reached applies to all units.")
    always_targets = True
    worth_nothing = mark("No line reaches a tier that lowers its price.")

    def parse(self, config: dict[str, Any]) -> BulkTiers:
        return BulkTiers.from_json(config)

    def values(self, config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        for index, tier in enumerate(config["tiers"]):
            yield f"tiers.{index}.", tier

    def cut(self, rule: Rule, config: BulkTiers, remaining: Remaining) -> Cut:
        """Take the value of the tier that is reached off every unit of the target lines."""
        lines = remaining.basket.lines
        positions = rule.target.positions(lines)
        together = sum(lines[position].quantity for position in positions)
        cut = {}
        for position in positions:
            units = lines[position].quantity
            tier = config.find_tier(together if config.scope == "order" else units)
            if tier:
                price_cents = remaining.line_cents[position]
                cut[position] = compute_cents_off(
                    price_cents, tier.value_mode, tier.value_amount, units=units
                )
        return cut
