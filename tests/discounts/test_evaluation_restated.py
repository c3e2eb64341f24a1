"""Rules by the unit, restated the slow way: every unit by itself, every choice of units tried."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from discounts.evaluation import Bogo, BulkTiers, Target
from tests.discounts.baskets import basket, line_discounts, rule
from tests.discounts.strategies import MANY, TARGETS, bogo_configs, bulk_configs, line_tuples

FEW_LINES = line_tuples(max_size=4, quantities=st.integers(1, 3))


@MANY
@given(FEW_LINES, bogo_configs())
def test_bogo_is_as_if_every_choice_of_units_was_tried(lines, config):
    found = line_discounts(basket(*lines), rule(type="buy_x_get_y", bogo_config=config))

    bogo = Bogo.from_json(config)
    units = [position for position, line in enumerate(lines) for _ in range(line.quantity)]
    rewarded = cheapest_choice(bogo, lines, units)
    assert found == [
        price_off(bogo, line.unit_price_cents, rewarded.count(position))
        for position, line in enumerate(lines)
    ]


def cheapest_choice(bogo, lines, units):
    """The rewarded units of the largest number of applications, as positions of their lines."""
    gettable = [position for position in units if bogo.get.covers(lines[position])]
    gettable.sort(key=lambda position: lines[position].unit_price_cents)
    most = len(units) if bogo.max_applications is None else bogo.max_applications
    for count in range(min(most, len(units)), 0, -1):
        choices = [
            choice
            for choice in combinations(gettable, count * bogo.get_quantity)
            if units_left_to_buy(bogo, lines, units, choice) >= count * bogo.buy_quantity
        ]
        if choices:
            return min(
                choices, key=lambda choice: sum(lines[position].unit_price_cents for position in choice)
            )
    return ()


def units_left_to_buy(bogo, lines, units, rewarded):
    left = list(units)
    for position in rewarded:
        left.remove(position)
    return sum(bogo.buy.covers(lines[position]) for position in left)


def price_off(value, unit_price_cents, units):
    """What a value by the unit takes off; only a percentage is of all units together."""
    match value.value_mode:
        case "percentage":
            return (unit_price_cents * units * value.value_amount + 5_000) // 10_000
        case "fixed_amount":
            return sum(min(value.value_amount, unit_price_cents) for _ in range(units))
        case "set_price":
            return sum(max(0, unit_price_cents - value.value_amount) for _ in range(units))
    return unit_price_cents * units


@MANY
@given(FEW_LINES, bulk_configs(), TARGETS)
def test_bulk_price_is_as_if_every_unit_was_priced_by_itself(lines, config, target):
    found = line_discounts(basket(*lines), rule(type="bulk_pricing", bulk_tiers=config, **target))

    covered = [line for line in lines if Target.from_json(target).covers(line)]
    together = sum(line.quantity for line in covered)
    tiers = sorted(BulkTiers.from_json(config).tiers, key=lambda tier: tier.min_quantity)
    expected = []
    for line in lines:
        quantity = together if config["scope"] == "order" else line.quantity
        reached = [tier for tier in tiers if tier.min_quantity <= quantity and line in covered]
        expected.append(price_off(reached[-1], line.unit_price_cents, line.quantity) if reached else 0)
    assert found == expected
