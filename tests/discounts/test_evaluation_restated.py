"""The rules for units, implemented again in a slow way: each unit by itself, with every choice of units tried.

A unit costs an exact fraction of its line. Fractions are rounded when units of one line are put together.
"""

from fractions import Fraction
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from discounts.evaluation import Target
from discounts.mechanics.bulk_pricing import BulkTiers
from discounts.mechanics.buy_x_get_y import Bogo
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
        price_off(bogo, exact_price(line), rewarded.count(position)) for position, line in enumerate(lines)
    ]


def cheapest_choice(bogo, lines, units):
    """Return the rewarded units when the rule applies as often as possible, as positions of their lines."""
    gettable = [position for position in units if bogo.get.covers(lines[position])]
    gettable.sort(key=lambda position: exact_price(lines[position]))
    most = len(units) if bogo.max_applications is None else bogo.max_applications
    for count in range(min(most, len(units)), 0, -1):
        choices = [
            choice
            for choice in combinations(gettable, count * bogo.get_quantity)
            if units_left_to_buy(bogo, lines, units, choice) >= count * bogo.buy_quantity
        ]
        if choices:
            return min(choices, key=lambda choice: sum(exact_price(lines[position]) for position in choice))
    return ()


def units_left_to_buy(bogo, lines, units, rewarded):
    left = list(units)
    for position in rewarded:
        left.remove(position)
    return sum(bogo.buy.covers(lines[position]) for position in left)


def exact_price(line):
    return Fraction(line.price_cents, line.quantity)


def half_up(amount):
    return int(amount + Fraction(1, 2))


def price_off(value, unit_price, units):
    """Return what a value takes off units of one line: an amount off each unit, a percentage off all of them together."""
    together = half_up(unit_price * units)
    match value.value_mode:
        case "percentage":
            return half_up(Fraction(together * value.value_amount, 10_000))
        case "fixed_amount":
            return min(together, sum(value.value_amount for _ in range(units)))
        case "set_price":
            return max(0, together - sum(value.value_amount for _ in range(units)))
    return together


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
        expected.append(price_off(reached[-1], exact_price(line), line.quantity) if reached else 0)
    assert found == expected
