"""What one rule takes off: each type with each value mode."""

import pytest

from discounts.evaluation import Line
from tests.discounts.baskets import amounts, basket, bogo, bulk, evaluated, line, line_discounts, rule

BOOKS_AND_PENS = basket(
    line(1000, 2, product_id=1, variant_id=11), line(333, 3, product_id=2, variant_id=21), shipping_cents=490
)


@pytest.mark.parametrize(
    ("mode", "amount", "expected"),
    [
        ("percentage", 1000, [200, 100]),
        ("percentage", 10_000, [2000, 999]),
        ("fixed_amount", 500, [333, 167]),
        ("fixed_amount", 5000, [2000, 999]),
        ("set_price", 2000, [666, 333]),
        ("set_price", 4000, [0, 0]),
        ("free", None, [2000, 999]),
        ("set_price", None, [0, 0]),
        (None, None, [0, 0]),
    ],
)
@pytest.mark.parametrize("rule_type", ["automatic_discount", "discount_code"])
def test_order_is_split_by_the_lines_prices(rule_type, mode, amount, expected):
    off_order = rule(type=rule_type, value_mode=mode, value_amount=amount, product_ids=[2])

    assert line_discounts(BOOKS_AND_PENS, off_order) == expected


@pytest.mark.parametrize(
    ("mode", "amount", "expected"),
    [
        ("percentage", 1000, [0, 100]),
        ("fixed_amount", 500, [0, 500]),
        ("fixed_amount", 1000, [0, 999]),
        ("set_price", 900, [0, 99]),
        ("set_price", 1000, [0, 0]),
        ("free", None, [0, 999]),
    ],
)
@pytest.mark.parametrize("target", [{"product_ids": [2]}, {"variant_ids": [21, 99]}])
def test_line_items_are_those_of_the_named_products_and_variants(target, mode, amount, expected):
    off_pens = rule(value_mode=mode, value_amount=amount, applies_to="line_items", **target)

    assert line_discounts(BOOKS_AND_PENS, off_pens) == expected


@pytest.mark.parametrize("target", [{}, {"product_ids": [1], "variant_ids": [21]}])
def test_line_items_are_all_lines_when_none_or_each_is_named(target):
    off_lines = rule(value_mode="fixed_amount", value_amount=500, applies_to="line_items", **target)

    assert line_discounts(BOOKS_AND_PENS, off_lines) == [333, 167]


@pytest.mark.parametrize(
    ("mode", "amount", "expected"),
    [
        ("percentage", 5000, 245),
        ("fixed_amount", 100, 100),
        ("fixed_amount", 1000, 490),
        ("set_price", 290, 200),
        ("set_price", 500, 0),
        ("free", None, 490),
    ],
)
@pytest.mark.parametrize(
    "columns",
    [
        {"type": "shipping_discount"},
        {"type": "automatic_discount", "applies_to": "shipping"},
        {"type": "discount_code", "applies_to": "shipping"},
        {"type": "bulk_pricing", "applies_to": "shipping"},
    ],
)
def test_shipping_is_lowered_apart_from_the_lines(columns, mode, amount, expected):
    evaluation = evaluated(BOOKS_AND_PENS, rule(value_mode=mode, value_amount=amount, **columns))

    assert evaluation.shipping_discount_cents == expected
    assert evaluation.line_discounts == (0, 0)


@pytest.mark.parametrize(
    ("tier", "expected"),
    [
        ((3, "percentage", 1000), [0, 100]),
        ((2, "percentage", 1000), [200, 100]),
        ((2, "fixed_amount", 50), [100, 150]),
        ((2, "fixed_amount", 400), [800, 999]),
        ((2, "set_price", 300), [1400, 99]),
        ((2, "set_price", 500), [1000, 0]),
        ((3, "free", None), [0, 999]),
        ((4, "free", None), [0, 0]),
    ],
)
def test_bulk_tier_by_line_is_for_each_unit_of_the_lines_that_reach_it(tier, expected):
    assert line_discounts(BOOKS_AND_PENS, bulk(1, tier)) == expected


def test_bulk_tier_by_order_counts_the_target_lines_together():
    notebooks = line(500, 4, product_id=3, variant_id=31)
    with_notebooks = basket(*BOOKS_AND_PENS.lines, notebooks)
    tier = (5, "percentage", 1000)

    assert line_discounts(with_notebooks, bulk(1, tier, scope="order")) == [200, 100, 200]
    assert line_discounts(with_notebooks, bulk(1, tier, scope="order", product_ids=[1, 2])) == [200, 100, 0]
    assert line_discounts(with_notebooks, bulk(1, tier, scope="order", product_ids=[2])) == [0, 0, 0]
    assert line_discounts(with_notebooks, bulk(1, tier, scope="line")) == [0, 0, 0]


@pytest.mark.parametrize(
    ("quantity", "expected"), [(1, 0), (2, 100), (4, 200), (5, 500), (9, 900), (10, 2000), (9999, 1_999_800)]
)
def test_highest_bulk_tier_reached_is_for_all_units(quantity, expected):
    tiers = [(5, "percentage", 1000), (10, "percentage", 2000), (2, "percentage", 500)]

    assert line_discounts(basket(line(1000, quantity)), bulk(1, *tiers)) == [expected]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"value_mode": "percentage", "value_amount": 5000}, [0, 333]),
        ({"value_mode": "percentage", "value_amount": 1500}, [0, 100]),
        ({"value_mode": "fixed_amount", "value_amount": 100}, [0, 200]),
        ({"value_mode": "fixed_amount", "value_amount": 400}, [0, 666]),
        ({"value_mode": "set_price", "value_amount": 300}, [0, 66]),
        ({"value_mode": "set_price", "value_amount": 400}, [0, 0]),
        ({"value_mode": "free"}, [0, 666]),
        ({"value_mode": "free", "max_applications": 1}, [0, 333]),
    ],
)
def test_bogo_rewards_the_cheapest_units(config, expected):
    assert line_discounts(BOOKS_AND_PENS, bogo(**config)) == expected


def test_bogo_percentage_is_rounded_once_for_each_line():
    half_off = bogo(
        value_mode="percentage", value_amount=5000, buy={"product_ids": [1]}, get={"product_ids": [2]}
    )

    found = line_discounts(basket(line(1000, 3, product_id=1), line(333, 3, product_id=2)), half_off)

    assert found == [0, 500]


@pytest.mark.parametrize(
    ("quantity", "expected"), [(1, 0), (2, 0), (3, 1000), (5, 1000), (6, 2000), (9999, 3_333_000)]
)
def test_three_for_two_counts_complete_applications(quantity, expected):
    assert line_discounts(basket(line(1000, quantity)), bogo(buy={"quantity": 2})) == [expected]


@pytest.mark.parametrize(
    ("books", "pens", "expected"), [(1, 5, [0, 333]), (2, 1, [0, 333]), (2, 2, [0, 666]), (5, 9, [0, 1665])]
)
def test_bogo_across_products_needs_both_sides(books, pens, expected):
    pen_for_each_book = bogo(buy={"product_ids": [1]}, get={"variant_ids": [21]})
    both = basket(line(1000, books, product_id=1), line(333, pens, product_id=2, variant_id=21))

    assert line_discounts(both, pen_for_each_book) == expected
    assert line_discounts(basket(both.lines[0]), pen_for_each_book) == [0]
    assert line_discounts(basket(both.lines[1]), pen_for_each_book) == [0]


def test_bogo_leaves_enough_units_to_buy():
    """The pen is the cheapest, but two applications are only possible if one pen is bought at full price."""
    pen_or_book_for_a_pen = bogo(buy={"product_ids": [2]})
    three_pens_and_a_book = basket(line(1000, product_id=1), line(333, 3, product_id=2))

    found = line_discounts(three_pens_and_a_book, pen_or_book_for_a_pen)

    assert found == [1000, 333]


def test_equal_units_are_rewarded_in_the_earlier_line():
    two_alike = basket(line(500, variant_id=1), line(500, variant_id=2))

    assert line_discounts(two_alike, bogo()) == [500, 0]


@pytest.mark.parametrize(
    ("price_cents", "quantity", "free", "expected"),
    [(17, 2, 1, 9), (17, 3, 1, 6), (17, 3, 2, 11), (840, 1001, 1000, 839), (8, 1001, 1, 0)],
)
def test_bogo_values_units_of_an_untaxed_line_by_their_share_of_its_price(
    price_cents, quantity, free, expected
):
    """2 x 0.10 at 19 % cost 0.17 without tax, so that a unit costs no whole number of cents."""
    untaxed = Line(11, 1, quantity, price_cents)
    book_for_pens = bogo(buy={"quantity": quantity - free}, get={"quantity": free}, max_applications=1)

    assert line_discounts(basket(untaxed), book_for_pens) == [expected]


def test_all_units_of_an_untaxed_line_are_worth_its_price():
    untaxed, book = Line(21, 2, 2, 17), line(1000, product_id=1)
    pens_for_a_book = bogo(buy={"product_ids": [1]}, get={"quantity": 2, "product_ids": [2]})

    assert line_discounts(basket(book, untaxed), pens_for_a_book) == [0, 17]


def test_two_deals_take_no_more_than_the_price_of_an_untaxed_line():
    untaxed, books = Line(21, 2, 2, 17), line(1000, 2, product_id=1)
    deals = [
        bogo(rule_id, buy={"product_ids": [1]}, get={"product_ids": [2]}, max_applications=1)
        for rule_id in (1, 2)
    ]

    evaluation = evaluated(basket(books, untaxed), *deals)

    assert amounts(evaluation) == [(1, 9), (2, 8)]
    assert evaluation.line_discounts == (0, 17)


def test_gift_card_lowers_no_price():
    evaluation = evaluated(BOOKS_AND_PENS, rule(type="gift_card", value_mode="free"))

    assert evaluation.line_discounts == (0, 0)
    assert amounts(evaluation) == []


def test_empty_basket_has_nothing_to_discount():
    rules = [rule(1, value_mode="free"), bulk(2, (1, "free", None)), bogo(3)]

    evaluation = evaluated(basket(), *rules)

    assert evaluation.line_discounts == ()
    assert amounts(evaluation) == []
