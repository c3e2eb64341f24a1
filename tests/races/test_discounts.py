"""Concurrent uses of limited discounts and gift cards, with real threads."""

from collections import Counter

import pytest

from discounts.models import (
    Discount,
    DiscountHold,
    DiscountRedemption,
    Voucher,
    VoucherHold,
    VoucherRedemption,
)
from tests import factories
from tests.storefront import enter_checkout, take_step
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def checkouts_about_to_pay(shop, number, code):
    variant, rate = factories.make_variant(shop, stock=1000), factories.make_rate(shop, price_cents=0)
    checkouts = []
    for _ in range(number):
        token = enter_checkout(shop, (variant, 1))["token"]
        shop.storefront.post(f"checkouts/{token}/discount.json", {"code": code})
        for step in ("address", "shipping", "payment"):
            checkout = take_step(step, shop, token, rate=rate)
        checkouts.append(checkout)
    return checkouts


def pay_and_complete(shop, checkout):
    path = f"checkouts/{checkout['token']}"
    started = shop.storefront.post(f"{path}/start_payment.json", {})
    if started.status_code != 200:
        return started
    shop.storefront.post(f"{path}/confirm.json", {"callback_payload": {}})
    return shop.storefront.post(f"{path}/complete.json", {}, idempotency_key=checkout["token"])


def outcomes(answers):
    return Counter((answer.status_code, answer.json().get("code")) for answer in answers)


def test_single_use_code_is_used_once_by_fifty(shop):
    factories.make_discount(shop, code="LAST", usage_limit_total=1)
    checkouts = checkouts_about_to_pay(shop, 50, "LAST")

    answers = run_threads(50, lambda n: pay_and_complete(shop, checkouts[n]))

    assert outcomes(answers) == {(200, None): 1, (409, "discount_exhausted"): 49}
    with shop.scope():
        assert Discount.objects.get().usage_count == 1
        assert (DiscountHold.objects.count(), DiscountRedemption.objects.count()) == (0, 1)


def test_one_customer_at_twenty_tills_uses_a_code_once(shop):
    factories.make_discount(shop, code="ONCE", usage_limit_per_customer=1)
    checkouts = checkouts_about_to_pay(shop, 20, "ONCE")

    answers = run_threads(20, lambda n: pay_and_complete(shop, checkouts[n]))

    assert outcomes(answers) == {(200, None): 1, (409, "discount_exhausted"): 19}


def test_gift_card_pays_no_more_than_it_has(shop):
    card = factories.make_voucher(shop, 3500)
    checkouts = checkouts_about_to_pay(shop, 20, card.code)

    answers = run_threads(20, lambda n: pay_and_complete(shop, checkouts[n]))

    assert outcomes(answers) == {(200, None): 3, (409, "insufficient_balance_held"): 17}
    with shop.scope():
        left = Voucher.objects.get()
        assert (left.balance_cents, left.held_cents, VoucherHold.objects.count()) == (500, 0, 0)
        assert sum(VoucherRedemption.objects.values_list("amount_cents", flat=True)) == 500
