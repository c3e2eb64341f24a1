"""No cent is lost or created, whatever the amounts."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.money import allocate, apply_tax, divide_half_up, share, tax_within

CENTS = st.integers(0, 10**13)
RATES = st.integers(0, 10_000)
WEIGHTS = st.lists(st.integers(0, 10**9), min_size=1, max_size=60)


@given(st.integers(-(10**15), 10**15), st.integers(1, 10**9))
def test_rounding_is_to_the_nearest_and_halves_go_away_from_zero(numerator, denominator):
    rounded = divide_half_up(numerator, denominator)

    distance = abs(Fraction(numerator, denominator) - rounded)
    assert distance <= Fraction(1, 2)
    if distance == Fraction(1, 2):
        assert abs(rounded) > abs(Fraction(numerator, denominator))


@given(CENTS, RATES, st.booleans())
def test_net_and_tax_make_gross_and_the_given_amount_stays(amount, rate, includes_tax):
    both = apply_tax(amount, rate, includes_tax=includes_tax)

    assert both.net_cents + both.tax_cents == both.gross_cents
    assert (both.gross_cents if includes_tax else both.net_cents) == amount
    assert 0 <= both.net_cents <= both.gross_cents


@given(CENTS, RATES)
def test_tax_taken_out_is_within_a_cent_of_tax_put_on(net, rate):
    gross = net + share(net, rate)

    assert abs(tax_within(gross, rate) - share(net, rate)) <= 1


@given(CENTS, WEIGHTS)
def test_parts_of_a_split_sum_to_the_whole_and_each_is_within_a_cent_of_its_share(amount, weights):
    if not sum(weights):
        weights[0] = 1

    parts = allocate(amount, weights)

    assert sum(parts) == amount
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - Fraction(amount * weight, sum(weights))) < 1
        assert weight or part == 0


@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_no_part_of_a_discount_is_larger_than_its_price(discount, prices):
    discount = min(discount, sum(prices))

    parts = allocate(discount, prices)

    assert all(0 <= part <= price for part, price in zip(parts, prices, strict=True))


def test_tie_goes_to_the_earlier_part():
    assert allocate(1, [1, 1]) == [1, 0]
    assert allocate(5, [1, 1, 1]) == [2, 2, 1]


def test_amount_with_nowhere_to_go_is_refused():
    assert allocate(0, [0, 0]) == [0, 0]
    with pytest.raises(ValueError, match="can't be split"):
        allocate(1, [0, 0])


@pytest.mark.parametrize(
    ("amount", "rate", "expected"),
    [(1000, 1900, 190), (5, 1000, 1), (4, 1000, 0), (1, 5000, 1), (0, 10_000, 0), (333, 825, 27)],
)
def test_share_is_rounded_half_up(amount, rate, expected):
    assert share(amount, rate) == expected
