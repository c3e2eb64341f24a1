"""docs/performance.md: the statements of every step, with or without discounts and gift cards, for any number of lines."""

import re

import pytest
from django.conf import settings
from django.db import connection

from accounts import authentication
from tests import factories
from tests.storefront import EMAIL, cart_with, take_step
from tests.tenancy.watching import statements_of

pytestmark = pytest.mark.django_db(transaction=True)

STEPS = {
    "address": "set the address",
    "shipping": "set the shipping",
    "payment": "choose the payment method",
    "processing": "start the payment",
    "ready": "confirm the payment",
    "completed": "complete: the order",
}
ROW = re.compile(r"^\| ([^|]+) \| (\d+|-) \| (\d+) \|$", re.MULTILINE)


class Counter:
    """Statements by step; BEGIN and COMMIT, which belong to every request, are left out."""

    def __init__(self):
        self.counts = {}

    def of(self, step, send):
        self.counts[step] = 0

        def counted(execute, sql, *args):
            self.counts[step] += len(statements_of(sql))
            return execute(sql, *args)

        with connection.execute_wrapper(counted):
            return send()


def journey(shop, variants, rate, codes=()):
    """Count the statements of each step of a checkout. With several codes of a kind, the last one counts."""
    counter = Counter()
    body = {"cart_token": cart_with(shop, *((variant, 1) for variant in variants)), "email": EMAIL}
    created = counter.of("create a checkout", lambda: shop.storefront.post("checkouts.json", body))
    token = created.json()["checkout"]["token"]
    for name, code in codes:
        path = f"checkouts/{token}/discount.json"
        entered = counter.of(
            f"enter {name}", lambda path=path, code=code: shop.storefront.post(path, {"code": code})
        )
        assert entered.status_code == 200, entered.content
    for step, name in STEPS.items():
        counter.of(
            name,
            # Its confirmation shows the bank account, which is one of the account's settings.
            lambda step=step: take_step(step, shop, token, rate=rate, payment_method="bank_transfer"),
        )
    return counter.counts


def many_codes(shop):
    """Two discounts with codes beside an automatic one, and two gift cards. Each rule depends on the shopper."""
    limits = {"stackable": True, "usage_limit_per_customer": 99, "usage_limit_total": 99}
    factories.make_discount(shop, code=None, **limits)
    discounts = [factories.make_discount(shop, code=f"C{n}", **limits).code for n in range(2)]
    cards = [factories.make_voucher(shop, 100_000).code for _ in range(2)]
    return [
        *(("a discount's code", code) for code in discounts),
        *(("a gift card's code", code) for code in cards),
    ]


@pytest.fixture
def rate(shop):
    factories.make_tax_rate(shop)
    return factories.make_rate(shop)


@pytest.mark.parametrize("lines", [1, 50])
def test_steps_take_the_statements_of_the_document(shop, rate, lines, monkeypatch):
    variants = [factories.make_variant(shop, price_cents=100) for _ in range(lines)]
    # Caches are kept for the whole journey, however slow the machine is.
    monkeypatch.setattr(authentication, "CACHE_S", float("inf"))
    journey(shop, variants, rate)

    plain = journey(shop, variants, rate)
    rich = journey(shop, variants, rate, many_codes(shop))

    document = (settings.BASE_DIR / "docs" / "performance.md").read_text()
    _, _, section = document.partition("## Statements of a checkout")
    shown = {name: (count, more) for name, count, more in ROW.findall(section.partition("\n## ")[0])}
    assert {name: (str(plain.get(name, "-")), str(count)) for name, count in rich.items()} == shown
    assert rich["complete: the order"] <= 20
