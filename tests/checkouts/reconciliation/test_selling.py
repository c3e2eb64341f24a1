"""`manage.py reconcile` finds nothing in a shop while it sells."""

import pytest

from checkouts.reconciliation import find_differences
from tests import factories
from tests.storefront import PHASES, enter_checkout, take_step
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def test_shop_that_sells_meanwhile_has_no_differences(shop):
    variants = [factories.make_variant(shop, price_cents=1000, stock=1000) for _ in range(2)]
    rate = factories.make_rate(shop)
    card = factories.make_voucher(shop, 50_000)
    factories.make_discount(shop, code="TEN", stackable=True)
    selling = [True] * 3

    def sell(number):
        try:
            sell_and_cancel()
        finally:
            selling[number] = False

    def sell_and_cancel():
        for turn in range(4):
            checkout = enter_checkout(shop, *((variant, 1) for variant in variants))
            for code in ("TEN", card.code):
                shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code})
            for step in PHASES[1:]:
                checkout = take_step(step, shop, checkout["token"], rate=rate)
            if turn % 2:
                assert shop.admin.post(f"orders/{checkout['order_id']}/cancel.json", {}).status_code == 200

    def watch():
        rounds, lines = 0, []
        while any(selling) or not rounds:
            rounds += 1
            with shop.scope():
                lines += find_differences()
        return rounds, lines

    *sold, (rounds, lines) = run_threads(4, lambda index: sell(index) if index < 3 else watch())

    assert sold == [None] * 3
    assert (rounds > 0, lines) == (True, [])
