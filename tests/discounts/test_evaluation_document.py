"""The example of discounts in docs/pricing.md matches what the code computes."""

import re

from django.conf import settings

from commerce.money import tax_within
from tests.discounts.baskets import basket, bogo, bulk, evaluated, line, percentage, rule

ROW = re.compile(r"^\| .+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
RATE_BP = 1900
BOOKS_AND_PENS = basket(line(1190, 2, product_id=1), line(333, 3, product_id=2), shipping_cents=490)
FIVE_OFF = {"value_mode": "fixed_amount", "value_amount": 500, "currency": "EUR"}
RULES = [
    bogo(1, buy={"quantity": 2, "product_ids": [2]}, get={"product_ids": [2]}),
    bulk(2, (2, "percentage", 500)),
    percentage(3, 1000),
    rule(4, type="discount_code", code="FIVE", stackable=True, **FIVE_OFF),
    rule(5, type="shipping_discount", value_mode="percentage", value_amount=5000),
]


def test_worked_example_is_what_the_code_computes():
    document = (settings.BASE_DIR / "docs" / "pricing.md").read_text()

    rows = [remaining_after(RULES[:count]) for count in range(len(RULES) + 1)]

    shown = [tuple(map(int, row)) for row in ROW.findall(document)]
    assert shown == [*rows, tax_in(*rows[-1][1:])]


def remaining_after(rules):
    """Return what the last rule takes off, and what remains of each line and of shipping."""
    evaluation = evaluated(
        BOOKS_AND_PENS,
        *(each for each in rules if not each.code),
        entered=[each for each in rules if each.code],
    )
    off_cents = evaluation.applied[-1].amount_cents if rules else 0
    books, pens = BOOKS_AND_PENS.lines
    return (
        off_cents,
        books.price_cents - evaluation.line_discounts[0],
        pens.price_cents - evaluation.line_discounts[1],
        BOOKS_AND_PENS.shipping_cents - evaluation.shipping_discount_cents,
    )


def tax_in(*remaining_cents):
    taxes = [tax_within(cents, RATE_BP) for cents in remaining_cents]
    return (sum(taxes), *taxes)
