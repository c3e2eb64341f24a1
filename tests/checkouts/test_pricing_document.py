"""The worked examples in docs/pricing.md match what the code computes."""

import re

import pytest
from django.conf import settings

from carts.totals import price_line
from checkouts.totals import Charge, Line, Totals, compute_totals
from commerce.money import allocate

RATE_BP = 1900
BOOKS_AND_PENS = ((1190, 2), (333, 3))
ROW = re.compile(r"^\| `(\w+_cents)` \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


@pytest.mark.parametrize(
    ("column", "prices_include_tax", "discount_cents"),
    [(1, True, 0), (2, False, 0), (3, True, 1000)],
    ids=["gross", "net", "discounted"],
)
def test_worked_example_is_what_the_code_computes(column, prices_include_tax, discount_cents):
    document = (settings.BASE_DIR / "docs" / "pricing.md").read_text()

    totals = example(prices_include_tax=prices_include_tax, discount_cents=discount_cents)

    shown = {row[0]: int(row[column]) for row in ROW.findall(document)}
    assert len(shown) == 10
    assert {name: getattr(totals, name) for name in shown} == shown


def example(*, prices_include_tax: bool, discount_cents: int) -> Totals:
    prices = [
        price_line(
            unit_price_cents=unit_price_cents,
            quantity=quantity,
            tax_rate_bp=RATE_BP,
            includes_tax=prices_include_tax,
        )
        for unit_price_cents, quantity in BOOKS_AND_PENS
    ]
    shares = allocate(discount_cents, [price.with_tax_cents for price in prices])
    return compute_totals(
        lines=[
            Line(
                with_tax_cents=price.with_tax_cents,
                without_tax_cents=price.without_tax_cents,
                tax_rate_bp=RATE_BP,
                discount_cents=share,
            )
            for price, share in zip(prices, shares, strict=True)
        ],
        shipping=Charge(price_cents=490, tax_rate_bp=RATE_BP),
        cod_fee=Charge(price_cents=150, tax_rate_bp=RATE_BP),
        prices_include_tax=prices_include_tax,
    )
