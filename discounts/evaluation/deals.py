"""Buy some, get others for less: which units are bought, which rewarded. Units are counted by line, never listed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .basket import Line
from .cuts import Cut, cents_off
from .rules import Bogo

Units = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Deal:
    """What a buy-x-get-y rule makes of a basket: units of each line, by its position."""

    bought: Units
    rewarded: Units


def best_deal(bogo: Bogo, lines: Sequence[Line], unused: Sequence[int]) -> Deal:
    """As many complete applications as the unused units allow: the cheapest are rewarded, the dearest bought."""
    buyable = {position: unused[position] for position in bogo.buy.positions(lines)}
    gettable = {position: unused[position] for position in bogo.get.positions(lines)}
    count = _applications(bogo, buyable, gettable)
    if not count:
        return Deal(bought={}, rewarded={})
    cheapest_first = sorted(gettable, key=lambda position: lines[position].unit_price)
    dearest_first = sorted(buyable, key=lambda position: -lines[position].unit_price)
    spare = _spare(count * bogo.buy_quantity, cheapest_first, buyable, gettable)
    rewarded = _take(count * bogo.get_quantity, cheapest_first, spare)
    left = {position: units - rewarded.get(position, 0) for position, units in buyable.items()}
    return Deal(bought=_take(count * bogo.buy_quantity, dearest_first, left), rewarded=rewarded)


def deal_cut(bogo: Bogo, lines: Sequence[Line], deal: Deal) -> Cut:
    """What the rewarded units cost less, in cents; a percentage is rounded once for each line."""
    return {
        position: cents_off(lines[position].price_of(units), bogo.value_mode, bogo.value_amount, units=units)
        for position, units in deal.rewarded.items()
    }


def _applications(bogo: Bogo, buyable: Units, gettable: Units) -> int:
    """How often the units suffice, where one that could be bought or got is only one of them."""
    everything = sum({**buyable, **gettable}.values())
    count = min(
        sum(buyable.values()) // bogo.buy_quantity,
        sum(gettable.values()) // bogo.get_quantity,
        everything // (bogo.buy_quantity + bogo.get_quantity),
    )
    return count if bogo.max_applications is None else min(count, bogo.max_applications)


def _spare(needed: int, cheapest_first: Sequence[int], buyable: Units, gettable: Units) -> Units:
    """The units that can be got without lacking any of the `needed` to buy: the cheapest of those that are both."""
    both = {position: units for position, units in gettable.items() if position in buyable}
    only_bought = sum(buyable.values()) - sum(both.values())
    kept = max(0, needed - only_bought)
    spare = _take(sum(both.values()) - kept, cheapest_first, both)
    return {position: units for position, units in gettable.items() if position not in buyable} | spare


def _take(wanted: int, positions: Sequence[int], available: Units) -> dict[int, int]:
    """That many units, from the first positions that have some."""
    taken: dict[int, int] = {}
    for position in positions:
        units = min(wanted, available.get(position, 0))
        if units:
            taken[position] = units
            wanted -= units
    return taken
