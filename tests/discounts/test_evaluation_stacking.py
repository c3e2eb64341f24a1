"""Which rules apply together, in which order, and how the trace explains the others."""

import pytest

from discounts.evaluation import combine
from tests.discounts.baskets import (
    NOW,
    amounts,
    basket,
    bogo,
    bulk,
    code,
    evaluated,
    line,
    line_discounts,
    percentage,
    reasons,
    rule,
)

HUNDRED_EUROS = basket(line(5000, 2), shipping_cents=1000)
A, B = code(1, 1000, stackable=True), code(2, 2000, stackable=True)
ALONE, ALONE_TOO = code(3, 3000), code(4, 4000)


@pytest.mark.parametrize(
    ("entered", "new", "expected"),
    [
        ([], A, [A]),
        ([], ALONE, [ALONE]),
        ([A], B, [A, B]),
        ([B], A, [B, A]),
        ([A, B], ALONE, [ALONE]),
        ([ALONE], A, [A]),
        ([ALONE], ALONE_TOO, [ALONE_TOO]),
        ([A, B], A, [A, B]),
        ([ALONE], ALONE, [ALONE]),
    ],
)
def test_codes_combine_when_all_of_them_stack(entered, new, expected):
    assert combine(entered, new) == expected


def test_rules_apply_in_stages_each_to_what_remains():
    stacked = {"stackable": True}
    free_shipping = rule(6, type="shipping_discount", value_mode="set_price", value_amount=100)
    entered = [
        code(7, 1000, **stacked),
        code(3, 1000, applies_to="shipping", **stacked),
        code(2, 5000, **stacked),
    ]
    automatic = [
        percentage(9, 1000),
        bulk(8, (2, "percentage", 1000)),
        bogo(5),
        free_shipping,
        percentage(4, 1000),
    ]

    evaluation = evaluated(HUNDRED_EUROS, *automatic, entered=entered)

    # 10,000: one of two units free, 10 % by quantity, 10 % twice by themselves, 10 % and 50 % by code.
    assert amounts(evaluation) == [
        (5, 5000),
        (8, 500),
        (4, 450),
        (9, 405),
        (7, 365),
        (2, 1640),
        (6, 900),
        (3, 10),
    ]
    assert evaluation.line_discounts == (8360,)
    assert evaluation.shipping_discount_cents == 910


def test_rules_of_one_stage_that_apply_by_themselves_come_before_codes():
    entered = [
        bogo(1, code="BOGO", stackable=True),
        bulk(2, (1, "free", None), code="BULK", stackable=True),
        rule(3, type="shipping_discount", code="SHIP", value_mode="free", stackable=True),
    ]
    automatic = [
        rule(6, type="shipping_discount", value_mode="free"),
        bulk(5, (1, "free", None)),
        bogo(4),
    ]

    evaluation = evaluated(HUNDRED_EUROS, *automatic, entered=entered)

    assert [verdict.discount_id for verdict in evaluation.trace] == [4, 1, 5, 2, 6, 3]


def test_units_of_one_bogo_are_not_used_by_another():
    three = basket(line(1000, 3))

    evaluation = evaluated(three, bogo(1), bogo(2))

    assert amounts(evaluation) == [(1, 1000)]
    assert reasons(evaluation)[2] == "nothing_to_discount"


def test_next_bogo_takes_the_units_that_are_left():
    one_free = bogo(1, max_applications=1)
    half_price = bogo(2, value_mode="percentage", value_amount=5000)
    four_books = basket(*(line(price, variant_id=price) for price in (800, 1000, 400, 900)))

    evaluation = evaluated(four_books, one_free, half_price)

    # The first uses the most expensive and the cheapest unit.
    assert amounts(evaluation) == [(1, 400), (2, 400)]
    assert evaluation.line_discounts == (400, 0, 400, 0)


def test_bogo_that_is_worth_nothing_leaves_its_units_to_the_next():
    no_bargain = bogo(1, value_mode="set_price", value_amount=2000)

    evaluation = evaluated(basket(line(1000, 2)), no_bargain, bogo(2))

    assert amounts(evaluation) == [(2, 1000)]


@pytest.mark.parametrize(
    ("automatic_stacks", "code_stacks", "expected"),
    [(False, True, [(1, 1000), (2, 900)]), (True, False, [(1, 1000), (2, 900)]), (False, False, [(2, 1000)])],
)
def test_automatic_beside_a_code_that_stands_alone_must_stack_itself(automatic_stacks, code_stacks, expected):
    automatic = percentage(1, 1000, stackable=automatic_stacks)

    evaluation = evaluated(HUNDRED_EUROS, automatic, entered=[code(2, 1000, stackable=code_stacks)])

    assert amounts(evaluation) == expected


def test_not_combinable_names_the_code():
    evaluation = evaluated(HUNDRED_EUROS, percentage(1, 1000), entered=[code(2, 1000)])

    assert reasons(evaluation) == {1: "not_combinable", 2: None}
    assert evaluation.trace[0].detail == "The discount can't be combined with CODE2."


def test_code_that_may_not_apply_displaces_nothing():
    expired = code(3, 5000, ends_at=NOW)

    evaluation = evaluated(HUNDRED_EUROS, percentage(1, 1000), entered=[A, expired])

    assert reasons(evaluation) == {1: None, 3: "discount_expired"}


def test_codes_that_no_longer_stack_are_combined_again():
    was_stackable = code(3, 3000)

    evaluation = evaluated(HUNDRED_EUROS, entered=[A, was_stackable])

    assert amounts(evaluation) == [(3, 3000)]
    assert reasons(evaluation) == {1: "not_combinable", 3: None}


def test_rule_given_twice_applies_once():
    evaluation = evaluated(HUNDRED_EUROS, A, A, entered=[A, A])

    assert amounts(evaluation) == [(1, 1000)]
    assert len(evaluation.trace) == 1


def test_shipping_rule_waits_until_shipping_is_chosen():
    free_shipping = rule(1, type="shipping_discount", value_mode="free", title="Free shipping")

    evaluation = evaluated(basket(line(5000)), free_shipping)

    assert evaluation.shipping_discount_cents == 0
    assert reasons(evaluation) == {1: "shipping_not_chosen"}
    assert evaluation.trace[0].detail == "The discount is on shipping, but no shipping method is chosen yet."


@pytest.mark.parametrize(
    ("worthless", "detail"),
    [
        (
            percentage(2, 1000, applies_to="line_items", product_ids=[99]),
            "The discount takes nothing off: 0 cents remain of the prices it lowers.",
        ),
        (
            rule(2, value_mode="set_price", value_amount=20_000),
            "The discount takes nothing off: 10000 cents remain of the prices it lowers.",
        ),
        (
            rule(2, type="shipping_discount", value_mode="set_price", value_amount=1000),
            "The discount takes nothing off: 1000 cents remain of the prices it lowers.",
        ),
        (bulk(2, (3, "free", None)), "No line reaches a tier that lowers its price."),
        (
            bogo(2, buy={"quantity": 2}),
            "The cart has too few eligible items for this offer.",
        ),
        (rule(2, type="gift_card"), "A gift card pays for the order and lowers no price."),
    ],
)
def test_rule_that_is_worth_nothing_is_not_applied(worthless, detail):
    evaluation = evaluated(HUNDRED_EUROS, worthless)

    assert amounts(evaluation) == []
    assert reasons(evaluation) == {2: "nothing_to_discount"}
    assert evaluation.trace[0].detail == detail


def test_nothing_is_left_after_free_goods():
    evaluation = evaluated(HUNDRED_EUROS, rule(1, value_mode="free"), percentage(2, 1000))

    assert amounts(evaluation) == [(1, 10_000)]
    assert reasons(evaluation)[2] == "nothing_to_discount"


def test_two_halves_are_not_free():
    """If both the promotion and the code of 50 % counted from the full price, the goods would be free."""
    assert line_discounts(HUNDRED_EUROS, percentage(1, 5000), entered=[code(2, 5000)]) == [5000]
    assert line_discounts(HUNDRED_EUROS, percentage(1, 5000), entered=[code(2, 5000, stackable=True)]) == [
        7500
    ]


def test_two_fixed_amounts_end_at_zero():
    ten_euros_off = {"value_mode": "fixed_amount", "value_amount": 1000}
    fifteen_euros = basket(line(500, 3))

    evaluation = evaluated(fifteen_euros, rule(1, **ten_euros_off), rule(2, **ten_euros_off))

    assert amounts(evaluation) == [(1, 1000), (2, 500)]
    assert evaluation.line_discounts == (1500,)
