"""Buy some units, get others for less. Units are counted by line, as a list of them could be long."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from commerce.wording import mark
from discounts.evaluation import (
    VALUE,
    ByQuantity,
    Cut,
    Group,
    Ids,
    Line,
    Number,
    Remaining,
    Rule,
    Stage,
    Target,
    compute_cents_off,
)
from discounts.evaluation.config import MAX_COUNT, MAX_QUANTITY

Units = Mapping[int, int]


def _describe_side(name: str, label: str) -> Group:
    return Group(
        "BogoTarget",
        (
            Number("quantity", label, min_value=1, max_value=MAX_QUANTITY),
            Ids("product_ids", mark("of these products")),
            Ids("variant_ids", mark("or variants")),
        ),
        name=name,
    )


BOGO = Group(
    "Bogo",
    (
        _describe_side("buy", mark("Buy: units")),
        _describe_side("get", mark("Get: units")),
        *VALUE,
        Number(
            "max_applications",
            mark("Times in one order at most"),
            min_value=1,
            max_value=MAX_COUNT,
            is_required=False,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Bogo:
    """The settings of a deal. The value is taken off each rewarded unit, in basis points or cents."""

    buy_quantity: int
    get_quantity: int
    value_mode: str
    value_amount: int | None = None
    buy: Target = field(default_factory=Target)
    get: Target = field(default_factory=Target)
    max_applications: int | None = None

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> Self:
        return cls(
            buy_quantity=config["buy"]["quantity"],
            get_quantity=config["get"]["quantity"],
            value_mode=config["value_mode"],
            value_amount=config.get("value_amount"),
            buy=Target.from_json(config["buy"]),
            get=Target.from_json(config["get"]),
            max_applications=config.get("max_applications"),
        )


class BuyXGetY(ByQuantity):
    type = "buy_x_get_y"
    stage = Stage.DEALS
    column = "bogo_config"
    config = BOGO
    config_label = mark("Buy X, get Y")
    config_help = mark("If none are chosen, any product.")
    worth_nothing = mark("The cart has too few eligible items for this offer.")
    hidden = ByQuantity.hidden | {"applies_to", "product_ids", "variant_ids"}
    form_values = {"applies_to": "order"}

    def parse(self, config: dict[str, Any]) -> Bogo:
        return Bogo.from_json(config)

    def values(self, config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        yield "", config

    def cut(self, rule: Rule, config: Bogo, remaining: Remaining) -> Cut:
        lines, unused = remaining.basket.lines, remaining.unused_units
        deal = find_best_deal(config, lines, unused)
        cut = remaining.limit(compute_deal_cut(config, lines, deal))
        # A deal that is worth nothing leaves its units to the next one.
        if any(cut.values()):
            for units_by_position in (deal.bought, deal.rewarded):
                for position, units in units_by_position.items():
                    unused[position] -= units
        return cut


@dataclass(frozen=True, slots=True)
class Deal:
    """The units that a buy-x-get-y rule uses, by position of the line."""

    bought: Units
    rewarded: Units


def find_best_deal(bogo: Bogo, lines: Sequence[Line], unused: Sequence[int]) -> Deal:
    """Apply the deal as often as the unused units allow. The cheapest are rewarded, the most expensive are bought."""
    buyable = {position: unused[position] for position in bogo.buy.positions(lines)}
    gettable = {position: unused[position] for position in bogo.get.positions(lines)}
    count = _count_applications(bogo, buyable, gettable)
    if not count:
        return Deal(bought={}, rewarded={})
    # By the exact price of a unit: rounded ones could make different prices look equal.
    cheapest_first = sorted(gettable, key=lambda position: lines[position].unit_price)
    dearest_first = sorted(buyable, key=lambda position: -lines[position].unit_price)
    spare = _find_spare(count * bogo.buy_quantity, cheapest_first, buyable, gettable)
    # Only spare units, so that enough are left to count as bought.
    rewarded = _take(count * bogo.get_quantity, cheapest_first, spare)
    left = {position: units - rewarded.get(position, 0) for position, units in buyable.items()}
    return Deal(bought=_take(count * bogo.buy_quantity, dearest_first, left), rewarded=rewarded)


def compute_deal_cut(bogo: Bogo, lines: Sequence[Line], deal: Deal) -> Cut:
    """Compute the cents taken off the rewarded units. A percentage is rounded once for each line."""
    return {
        position: compute_cents_off(
            lines[position].price_of(units), bogo.value_mode, bogo.value_amount, units=units
        )
        for position, units in deal.rewarded.items()
    }


def _count_applications(bogo: Bogo, buyable: Units, gettable: Units) -> int:
    """Count how often the units suffice. One that could be both bought and rewarded counts once."""
    # Merged by position, so that units that are in both count once.
    everything = sum({**buyable, **gettable}.values())
    count = min(
        sum(buyable.values()) // bogo.buy_quantity,
        sum(gettable.values()) // bogo.get_quantity,
        everything // (bogo.buy_quantity + bogo.get_quantity),
    )
    return count if bogo.max_applications is None else min(count, bogo.max_applications)


def _find_spare(needed: int, cheapest_first: Sequence[int], buyable: Units, gettable: Units) -> Units:
    """Return the units that can be rewarded while the `needed` ones are left to be bought.

    Of the units that could be either, these are the cheapest.
    """
    both = {position: units for position, units in gettable.items() if position in buyable}
    only_bought = sum(buyable.values()) - sum(both.values())
    kept = max(0, needed - only_bought)
    spare = _take(sum(both.values()) - kept, cheapest_first, both)
    return {position: units for position, units in gettable.items() if position not in buyable} | spare


def _take(wanted: int, positions: Sequence[int], available: Units) -> dict[int, int]:
    """Take this many units from the first positions that have some."""
    taken: dict[int, int] = {}
    for position in positions:
        units = min(wanted, available.get(position, 0))
        if units:
            taken[position] = units
            wanted -= units
    return taken
