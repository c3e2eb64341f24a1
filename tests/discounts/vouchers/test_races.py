"""Concurrent uses of one gift card, with real threads."""

from collections import Counter

import pytest
from django.utils import timezone

from discounts.models import VoucherPaymentAttempt
from discounts.vouchers.errors import InsufficientBalanceHeld
from discounts.vouchers.holds import (
    capture_holds,
    hold_vouchers,
    lock_held,
    release_holds,
    reverse_redemptions,
)
from discounts.vouchers.sweeping import expire_overdue_vouchers
from tests.discounts.vouchers.cards import (
    event_types,
    holds,
    ledger,
    make_order,
    make_voucher,
    state,
)
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def test_fifty_redeems_of_three_take_what_there_is_and_no_more(shop):
    voucher = make_voucher(shop, balance=10_000)
    body = {"code": voucher.code, "amount_cents": 300}

    answers = run_threads(50, lambda _: shop.admin.post("vouchers/redeem.json", body))

    assert Counter(answer.status_code for answer in answers) == {200: 33, 422: 17}
    assert state(shop, voucher) == (100, 0, "active")
    entries = ledger(shop, voucher)
    assert sum(cents for _, cents, _ in entries) == 100
    assert [balance for *_, balance in entries] == list(range(10_000, 0, -300))
    with shop.scope():
        tries = Counter(VoucherPaymentAttempt.objects.values_list("status", flat=True))
    assert tries == {"succeeded": 33, "refused": 17}


def test_twenty_checkouts_hold_what_there_is_and_no_more(shop):
    voucher = make_voucher(shop, balance=10_000)

    def hold(number):
        with shop.scope():
            hold_vouchers(checkout_id=number + 1, amounts={voucher.pk: 1500}, now=timezone.now())

    results = run_threads(20, hold)

    refused = [result for result in results if isinstance(result, InsufficientBalanceHeld)]
    assert (results.count(None), len(refused)) == (6, 14)
    assert state(shop, voucher) == (10_000, 9000, "active")
    assert sum(holds(shop, voucher).values()) == 9000


def test_checkouts_with_the_same_vouchers_in_any_order_do_not_deadlock(shop):
    vouchers = [make_voucher(shop) for _ in range(4)]
    order = make_order(shop)

    def pay(number):
        ordered = vouchers if number % 2 else vouchers[::-1]
        with shop.scope():
            hold_vouchers(
                checkout_id=number + 1,
                amounts={voucher.pk: 100 for voucher in ordered},
                now=timezone.now(),
            )
        with shop.scope():
            if number % 4 < 2:
                release_holds(checkout_ids=[number + 1])
            else:
                lock_held(checkout_ids=[number + 1])
                capture_holds(checkout_id=number + 1, order_id=order.pk, actor="test", now=timezone.now())

    assert run_threads(16, pay) == [None] * 16
    assert [state(shop, voucher) for voucher in vouchers] == [(9200, 0, "active")] * 4


def test_reversals_at_once_return_once(shop):
    order, voucher = make_order(shop), make_voucher(shop)
    body = {"code": voucher.code, "amount_cents": 10_000, "order_id": order.pk}
    shop.admin.post("vouchers/redeem.json", body)

    def reverse(_):
        with shop.scope():
            reverse_redemptions(order_id=order.pk, actor="test", now=timezone.now())

    assert run_threads(8, reverse) == [None] * 8
    assert state(shop, voucher) == (10_000, 0, "active")
    assert [kind for kind, *_ in ledger(shop, voucher)] == ["issue", "redeem", "reversal"]


def test_redeem_and_revocation_at_once_leave_one_truth(shop):
    voucher = make_voucher(shop)

    def act(number):
        if number == 3:
            return shop.admin.post(f"vouchers/{voucher.pk}/revoke.json", {"reason": "Stolen"})
        return shop.admin.post("vouchers/redeem.json", {"code": voucher.code, "amount_cents": 100})

    answers = run_threads(8, act)

    taken = sum(answer.status_code == 200 for index, answer in enumerate(answers) if index != 3)
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert state(shop, voucher) == (10_000 - 100 * taken, 0, "revoked")


def test_revocations_at_once_happen_once(shop):
    voucher = make_voucher(shop)

    answers = run_threads(
        8, lambda n: shop.admin.post(f"vouchers/{voucher.pk}/revoke.json", {"reason": f"Reason {n}"})
    )

    assert len({answer.content for answer in answers}) == 1
    assert event_types(shop) == ["voucher.issued", "voucher.revoked"]


def test_sweepers_at_once_expire_each_voucher_once(shop, other_shop):
    vouchers = [(place, make_voucher(place, is_overdue=True)) for place in (shop, other_shop) * 5]

    swept = run_threads(6, lambda _: expire_overdue_vouchers(now=timezone.now()))

    assert sum(swept) == 10
    assert {state(place, voucher) for place, voucher in vouchers} == {(10_000, 0, "expired")}
    assert [event_types(place).count("voucher.expired") for place in (shop, other_shop)] == [5, 5]
