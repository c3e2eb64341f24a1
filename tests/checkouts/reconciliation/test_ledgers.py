"""`manage.py reconcile`: finds every way in which counts, balances and holds can be wrong."""

import pytest
from django.utils import timezone

from carts.models import Cart
from checkouts.models import Checkout
from checkouts.reconciliation import CHECKS
from checkouts.reconciliation.checks import Check
from commerce.inventory.models import InventoryLevel, Reservation
from discounts.models import (
    Discount,
    DiscountHold,
    DiscountRedemption,
    Voucher,
    VoucherHold,
    VoucherRedemption,
)
from discounts.vouchers.holds import hold_vouchers
from tests import factories
from tests.checkouts.reconciliation.command import difference, reconcile, run
from tests.discounts.vouchers.cards import make_voucher
from tests.metrics import failures_of
from tests.storefront import PHASES, checkout_in, enter_checkout, take_step


def test_books_of_a_shop_that_sells_agree(shop, other_shop):
    card = make_voucher(shop)
    factories.make_discount(shop, code="A", stackable=True)
    rate = factories.make_rate(shop)
    for phase in ("completed", "processing"):
        checkout = enter_checkout(shop, (factories.make_variant(shop), 2))
        for code in ("A", card.code):
            shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code})
        for step in PHASES[1 : PHASES.index(phase) + 1]:
            take_step(step, shop, checkout["token"], rate=rate)
    with shop.scope():
        assert (DiscountRedemption.objects.count(), DiscountHold.objects.count()) == (1, 1)
        assert (VoucherRedemption.objects.filter(kind="redeem").count(), VoucherHold.objects.count()) == (
            1,
            1,
        )

    assert run(shop.handle) == (["no differences in 1 accounts"], True)
    assert run() == (["no differences in 2 accounts"], True)


def test_unknown_account_is_refused(shop):
    assert run("nowhere", shop.handle) == (["There is no account nowhere."], False)


def test_differences_of_every_account_are_told(shop, other_shop):
    for place in (shop, other_shop):
        make_voucher(place)
        with place.scope():
            Voucher.objects.update(balance_cents=9000)

    lines, is_well = run()

    assert not is_well
    assert [line.partition(":")[0] for line in lines[:-1]] == [shop.handle, other_shop.handle]
    assert lines[-1] == "2 differences in 2 accounts"


def test_balance_that_is_not_the_ledgers_sum_is_found(shop):
    voucher = make_voucher(shop)
    with shop.scope():
        Voucher.objects.update(balance_cents=9000)

    assert difference(shop) == (
        f"voucher {voucher.pk} has a balance of 9000, but its ledger sums up to 10000"
    )


def test_held_cents_without_a_hold_are_found(shop):
    voucher = make_voucher(shop)
    with shop.scope():
        Voucher.objects.update(held_cents=500)

    assert difference(shop) == f"voucher {voucher.pk} has 500 held, but its holds sum up to 0"


def test_voucher_hold_of_no_open_checkout_is_found(shop):
    voucher = make_voucher(shop)
    with shop.scope():
        hold_vouchers(checkout_id=7, amounts={voucher.pk: 500}, now=timezone.now())
        hold = VoucherHold.objects.get()

    assert difference(shop) == f"voucher hold {hold.pk} belongs to checkout 7, which is not being paid"


def test_discount_hold_of_no_open_checkout_is_found(shop):
    with shop.scope():
        discount = Discount.objects.create(type="discount_code", code="A", title="A", usage_count=1)
        hold = DiscountHold.objects.create(
            discount=discount, checkout_id=7, customer_email="a@b.c", currency="EUR", amount_cents=1
        )

    assert difference(shop) == f"discount hold {hold.pk} belongs to checkout 7, which is not being paid"


def test_usage_count_without_uses_is_found(shop):
    with shop.scope():
        discount = Discount.objects.create(type="discount_code", code="A", title="A", usage_count=3)

    assert difference(shop) == (
        f"discount {discount.pk} counts 3 uses, but its redemptions and holds come to 0"
    )


@pytest.mark.parametrize(("phase", "status"), [("ready", "reserved"), ("completed", "committed")])
def test_units_without_a_reservation_are_found(shop, phase, status):
    checkout_in(phase, shop, (factories.make_variant(shop), 2))
    with shop.scope():
        InventoryLevel.objects.update(**{status: 3})
        level = InventoryLevel.objects.get()

    assert difference(shop) == (
        f"inventory level {level.pk} has 3 units {status}, but its reservations sum up to 2"
    )


def test_reservation_of_an_ended_checkout_is_found(shop):
    checkout = checkout_in("payment", shop, (factories.make_variant(shop), 2))
    with shop.scope():
        Checkout.objects.update(phase="abandoned")

    with shop.scope():
        reservation = Reservation.objects.get()
    assert difference(shop) == (
        f"reservation {reservation.pk} belongs to checkout {checkout['id']}, which is not open"
    )


def test_order_of_a_checkout_that_is_not_completed_is_found(shop):
    checkout = checkout_in("completed", shop, (factories.make_variant(shop), 2))
    with shop.scope():
        Checkout.objects.update(phase="abandoned", order=None, completed_at=None, completion_key=None)

    assert reconcile(shop)[0] == (
        f"order {checkout['order_id']} belongs to checkout {checkout['id']}, which is not completed but abandoned"
    )


def test_completed_checkout_that_names_another_ones_order_is_found(shop):
    first, second = (checkout_in("completed", shop, (factories.make_variant(shop), 1)) for _ in range(2))
    with shop.scope():
        Checkout.objects.filter(pk=first["id"]).update(order_id=second["order_id"])

    assert difference(shop) == (
        f"completed checkout {first['id']} names order {second['order_id']},"
        f" but its orders are {first['order_id']}"
    )


def test_account_is_reconciled_in_one_statement_for_each_check(shop, django_assert_num_queries):
    checkout_in("completed", shop, (factories.make_variant(shop), 2))

    with django_assert_num_queries(len(CHECKS) + 6):
        run(shop.handle)


def test_account_that_can_not_be_read_is_told_and_the_others_are_reconciled(shop, other_shop, monkeypatch):
    fails_for_one = Check("{}", f"SELECT 1 / (%(account)s - {shop.id}) WHERE %(account)s = {shop.id}")
    monkeypatch.setattr("checkouts.reconciliation.CHECKS", [*CHECKS, fails_for_one])
    make_voucher(other_shop)
    with other_shop.scope():
        Voucher.objects.update(balance_cents=9000)
    before = failures_of("reconcile")

    lines, is_well = run(shop.handle, other_shop.handle)

    assert not is_well
    assert lines[0].startswith(f"{other_shop.handle}: ")
    assert lines[-1] == "1 of 2 accounts couldn't be checked, see the log; 1 differences in the others"
    assert failures_of("reconcile") == before + 1


@pytest.mark.parametrize("change", [{"value_amount": 1}, {"code": "OTHER"}, {"currency": "CZK"}])
def test_gift_card_that_is_not_as_its_voucher_is_found(shop, change):
    body = {
        "type": "gift_card",
        "title": "T",
        "value_mode": "fixed_amount",
        "value_amount": 500,
        "currency": "EUR",
    }
    card = shop.admin.post("discounts.json", body).json()["discount"]
    with shop.scope():
        Discount.objects.update(**change)

    assert difference(shop) == (
        f"discount {card['id']} is a gift card, but voucher {card['voucher_id']} has another code, balance or currency"
    )


def test_units_committed_to_no_order_are_found(shop):
    checkout = checkout_in("completed", shop, (factories.make_variant(shop), 2))
    shop.admin.post(f"orders/{checkout['order_id']}/cancel.json", {})
    with shop.scope():
        Reservation.objects.update(status="committed")
        InventoryLevel.objects.update(committed=2)
        reservation = Reservation.objects.get()

    assert difference(shop) == (
        f"reservation {reservation.pk} is committed, but checkout {checkout['id']} has no order to send"
    )


def test_cart_of_a_completed_checkout_that_is_active_is_found(shop):
    checkout = checkout_in("completed", shop, (factories.make_variant(shop), 1))
    with shop.scope():
        Cart.objects.update(status="active")
        cart = Cart.objects.get()

    assert (
        difference(shop)
        == f"completed checkout {checkout['id']} belongs to cart {cart.pk}, which is still active"
    )


def test_converted_cart_without_a_completed_checkout_is_found(shop):
    checkout_in("payment", shop, (factories.make_variant(shop), 1))
    with shop.scope():
        Cart.objects.update(status="converted")
        cart = Cart.objects.get()

    assert difference(shop) == f"cart {cart.pk} is converted, but none of its checkouts is completed"


def test_merged_cart_with_an_open_checkout_is_found(shop):
    checkout = checkout_in("payment", shop, (factories.make_variant(shop), 1))
    target = factories.make_cart(shop)
    with shop.scope():
        Cart.objects.exclude(pk=target.pk).update(status="merged", merged_into=target)
        cart = Cart.objects.get(status="merged")

    assert reconcile(shop) == [
        f"cart {cart.pk} is merged into another, but still has 1 lines",
        f"cart {cart.pk} is merged into another, but its checkout {checkout['id']} is still payment",
    ]
