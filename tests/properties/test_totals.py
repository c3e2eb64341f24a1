"""Totals of carts and checkouts: the sums hold for any lines, rates and charges, in both tax modes."""

from hypothesis import given
from hypothesis import strategies as st

from carts.totals import compute_cart_totals, price_line
from checkouts.totals import Charge, Line, compute_totals
from commerce.money import apply_tax

RATES = st.sampled_from([0, 500, 700, 825, 1000, 1900, 2100, 2700, 10_000])
PRICES = st.integers(0, 10**9)


@st.composite
def checkout_lines(draw, includes_tax):
    price, rate = draw(PRICES), draw(RATES)
    both = apply_tax(price, rate, includes_tax=includes_tax)
    discount = draw(st.integers(0, price))
    return Line(both.gross_cents, both.net_cents, rate, discount)


@st.composite
def checkouts(draw):
    includes_tax = draw(st.booleans())
    charge = st.builds(Charge, price_cents=PRICES, tax_rate_bp=RATES)
    return {
        "lines": draw(st.lists(checkout_lines(includes_tax), max_size=30)),
        "shipping": draw(st.none() | charge),
        "cod_fee": draw(st.none() | charge),
        "prices_include_tax": includes_tax,
    }


@given(checkouts())
def test_total_is_what_its_parts_say(checkout):
    totals = compute_totals(**checkout)

    charged = -totals.discount_cents + totals.shipping_cents + totals.cod_fee_cents
    if checkout["prices_include_tax"]:
        assert totals.total_cents == totals.subtotal_with_tax_cents + charged
    else:
        assert totals.total_cents == totals.subtotal_without_tax_cents + charged + totals.tax_cents
    assert totals.amount_due_cents == totals.total_cents - totals.gift_card_cents
    assert 0 <= totals.shipping_tax_cents + totals.cod_fee_tax_cents <= totals.tax_cents <= totals.total_cents


@st.composite
def lines_of_either_mode(draw):
    """Lines of a cart whose market has changed its tax mode meanwhile."""
    rows = st.tuples(PRICES, st.integers(1, 9_999), RATES, st.booleans())
    return [
        price_line(unit_price_cents=price, quantity=quantity, tax_rate_bp=rate, includes_tax=includes_tax)
        for price, quantity, rate, includes_tax in draw(st.lists(rows, min_size=1, max_size=30))
    ]


@given(lines_of_either_mode(), st.booleans())
def test_lines_of_both_modes_cost_in_the_checkout_what_the_cart_shows(lines, prices_include_tax):
    cart = compute_cart_totals(lines)

    totals = compute_totals(
        lines=[Line(line.with_tax_cents, line.without_tax_cents, line.tax_rate_bp) for line in lines],
        shipping=None,
        cod_fee=None,
        prices_include_tax=prices_include_tax,
    )

    assert all(line.without_tax_cents + line.tax_cents == line.with_tax_cents for line in lines)
    assert totals.total_cents == totals.subtotal_with_tax_cents == cart.total_cents
    assert totals.tax_cents == cart.tax_cents
    assert totals.subtotal_without_tax_cents + totals.tax_cents == totals.total_cents


@given(checkouts())
def test_subtotals_are_before_discounts(checkout):
    totals = compute_totals(**checkout)

    assert totals.subtotal_with_tax_cents == sum(line.with_tax_cents for line in checkout["lines"])
    assert totals.subtotal_without_tax_cents == sum(line.without_tax_cents for line in checkout["lines"])
    assert totals.discount_cents == sum(line.discount_cents for line in checkout["lines"])


@given(checkouts(), st.randoms())
def test_order_of_lines_does_not_matter(checkout, random):
    shuffled = list(checkout["lines"])
    random.shuffle(shuffled)

    assert compute_totals(**checkout | {"lines": shuffled}) == compute_totals(**checkout)


@given(
    st.lists(st.tuples(PRICES, st.integers(1, 9_999), RATES), min_size=1, max_size=30),
    st.booleans(),
)
def test_cart_totals_sum_the_lines(rows, includes_tax):
    lines = [
        price_line(unit_price_cents=price, quantity=quantity, tax_rate_bp=rate, includes_tax=includes_tax)
        for price, quantity, rate in rows
    ]

    totals = compute_cart_totals(lines)

    with_tax, without_tax = totals.subtotal_with_tax_cents, totals.subtotal_without_tax_cents
    assert without_tax + totals.tax_cents == with_tax == totals.total_cents
    listed = sum(price * quantity for price, quantity, _ in rows)
    assert (with_tax if includes_tax else without_tax) == listed
    assert totals.item_count == sum(quantity for _, quantity, _ in rows)
