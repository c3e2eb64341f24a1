"""Discounts lose or create no cent, whatever the baskets and rules."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from checkouts.totals import Charge, compute_totals
from checkouts.totals import Line as TaxedLine
from commerce.money import apply_tax, share
from discounts.evaluation import Line, combine, evaluate
from tests.discounts.baskets import NOW, amounts, basket, code, evaluated, percentage, rule
from tests.discounts.strategies import (
    AUTOMATIC,
    ENTERED,
    MANY,
    SHOPPERS,
    SOME,
    baskets,
    bogo_configs,
    effects,
    line_tuples,
    lines,
    rules,
)

RATES = st.sampled_from([0, 700, 1000, 1900, 2100])
BELOW_ALL = st.integers(1, 9000)


@MANY
@given(baskets(), AUTOMATIC, ENTERED, SHOPPERS)
def test_every_cent_taken_off_is_that_of_a_rule_and_no_price_falls_below_zero(
    of, automatic, entered, shopper
):
    evaluation = evaluate(of, automatic=automatic, entered=entered, shopper=shopper, now=NOW)

    off_cents = sum(evaluation.line_discounts) + evaluation.shipping_discount_cents
    assert off_cents == sum(applied.amount_cents for applied in evaluation.applied)
    assert 0 <= evaluation.shipping_discount_cents <= (of.shipping_cents or 0)
    for line, discount_cents in zip(of.lines, evaluation.line_discounts, strict=True):
        assert 0 <= discount_cents <= line.price_cents
    judged = [verdict.discount_id for verdict in evaluation.trace]
    assert sorted(judged) == sorted(each.id for each in [*automatic, *entered])
    for verdict in evaluation.trace:
        assert verdict.is_applied == (verdict.amount_cents > 0) == (verdict.reason is None)


@SOME
@given(baskets(), AUTOMATIC, ENTERED, st.randoms())
def test_order_in_which_automatic_rules_are_given_does_not_matter(of, automatic, entered, random):
    shuffled = list(automatic)
    random.shuffle(shuffled)

    assert evaluated(of, *shuffled, entered=entered) == evaluated(of, *automatic, entered=entered)


@SOME
@given(baskets(), effects(modes=("fixed_amount", "set_price", "free")), st.randoms())
def test_order_of_lines_does_not_change_what_a_rule_is_worth(of, effect, random):
    shuffled = list(of.lines)
    random.shuffle(shuffled)

    assert amounts(evaluated(replace(of, lines=tuple(shuffled)), rule(**effect))) == amounts(
        evaluated(of, rule(**effect))
    )


@SOME
@given(line_tuples(), lines(), effects())
def test_of_equal_lines_the_earlier_gets_at_least_as_much(others, line, effect):
    discounts = evaluated(basket(line, *others, line, shipping_cents=0), rule(**effect)).line_discounts

    assert discounts[0] >= discounts[-1]
    if effect["type"] != "buy_x_get_y":
        assert discounts[0] - discounts[-1] <= 1


@MANY
@given(line_tuples(), BELOW_ALL, BELOW_ALL)
def test_two_percentages_are_of_what_remains_and_never_make_goods_free(of_lines, first_bp, second_bp):
    of = basket(*of_lines)
    assume(of.subtotal_cents >= 1000)

    evaluation = evaluated(of, percentage(1, first_bp), entered=[code(2, second_bp, stackable=True)])

    first_cents = share(of.subtotal_cents, first_bp)
    second_cents = share(of.subtotal_cents - first_cents, second_bp)
    assert sum(evaluation.line_discounts) == first_cents + second_cents < of.subtotal_cents


@SOME
@given(baskets(), AUTOMATIC, ENTERED, rules(st.just(99), code="NEW", stackable=True))
def test_code_that_is_removed_leaves_the_earlier_result(of, automatic, entered, new):
    stackable = [each for each in entered if each.stackable]
    before = evaluated(of, *automatic, entered=stackable)

    codes = combine(stackable, new)
    evaluated(of, *automatic, entered=codes)
    codes.remove(new)

    assert evaluated(of, *automatic, entered=codes) == before


@SOME
@given(baskets(), AUTOMATIC, ENTERED, BELOW_ALL)
def test_code_that_is_added_changes_nothing_of_the_rules_before_it(of, automatic, entered, rate_bp):
    stackable = [each for each in entered if each.stackable]
    before = evaluated(of, *automatic, entered=stackable)

    after = evaluated(of, *automatic, entered=[*stackable, code(99, rate_bp, stackable=True)])

    assert [verdict for verdict in after.trace if verdict.discount_id != 99] == list(before.trace)


@SOME
@given(baskets(), AUTOMATIC, ENTERED, BELOW_ALL)
def test_code_that_may_not_apply_changes_nothing(of, automatic, entered, rate_bp):
    expired = code(99, rate_bp, ends_at=NOW)

    after = evaluated(of, *automatic, entered=[*entered, expired])

    assert after.applied == evaluated(of, *automatic, entered=entered).applied


@SOME
@given(baskets(), bogo_configs())
def test_the_same_offer_twice_gives_nothing_more(of, config):
    offers = [
        rule(each, type="buy_x_get_y", bogo_config=config | {"max_applications": None}) for each in (1, 2)
    ]

    evaluation = evaluated(of, *offers)

    assert [applied.discount_id for applied in evaluation.applied] in ([], [1])


@MANY
@given(baskets(), AUTOMATIC, ENTERED, st.booleans(), st.data())
def test_net_and_tax_make_gross_after_discounts(of, automatic, entered, includes_tax, data):
    evaluation = evaluated(of, *automatic, entered=entered)
    rates = [data.draw(RATES) for _ in of.lines]
    lines_after = list(
        map(taxed_line, of.lines, evaluation.line_discounts, rates, [includes_tax] * len(rates))
    )
    shipping = Charge(of.shipping_cents or 0, 1900, evaluation.shipping_discount_cents)

    totals = compute_totals(
        lines=lines_after, shipping=shipping, cod_fee=None, prices_include_tax=includes_tax
    )

    charged_cents = of.subtotal_cents - totals.discount_cents + totals.shipping_cents
    assert totals.total_cents == charged_cents + (0 if includes_tax else totals.tax_cents)
    apart = [
        compute_totals(lines=[line], shipping=None, cod_fee=None, prices_include_tax=includes_tax)
        for line in lines_after
    ]
    assert sum(each.tax_cents for each in apart) + totals.shipping_tax_cents == totals.tax_cents
    assert sum(each.total_cents for each in apart) == totals.total_cents - shipping_gross_cents(
        totals, includes_tax
    )
    for each, line in zip(apart, lines_after, strict=True):
        net_cents = each.total_cents - each.tax_cents
        assert abs(Fraction(net_cents * line.tax_rate_bp, 10_000) - each.tax_cents) <= 1


def shipping_gross_cents(totals, includes_tax):
    return totals.shipping_cents + (0 if includes_tax else totals.shipping_tax_cents)


def taxed_line(line: Line, discount_cents: int, rate_bp: int, includes_tax: bool) -> TaxedLine:
    both = apply_tax(line.price_cents, rate_bp, includes_tax=includes_tax)
    return TaxedLine(both.gross_cents, both.net_cents, rate_bp, discount_cents)
