"""Concurrent checkouts for the last units, with real threads."""

from collections import Counter

import pytest
from django.utils import timezone

from checkouts.models import Checkout
from checkouts.operations import complete_checkout
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.customers.models import Customer
from commerce.inventory.models import InventoryLevel, Reservation
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.storefront import EMAIL, cart_with, checkout_in
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def outcomes(answers):
    return Counter((answer.status_code, answer.json().get("code")) for answer in answers)


def complete(shop, checkout, key):
    return shop.storefront.post(f"checkouts/{checkout['token']}/complete.json", {}, idempotency_key=key)


def test_last_ten_units_make_exactly_ten_checkouts(shop):
    mug, pen = factories.make_variant(shop, stock=10), factories.make_variant(shop, stock=1000)
    carts = [cart_with(shop, *([(mug, 1), (pen, 1)] if n % 2 else [(pen, 1), (mug, 1)])) for n in range(50)]

    answers = run_threads(
        50, lambda n: shop.storefront.post("checkouts.json", {"cart_token": carts[n], "email": EMAIL})
    )

    assert outcomes(answers) == {(201, None): 10, (409, "insufficient_inventory"): 40}
    with shop.scope():
        levels = {level.variant_id: level for level in InventoryLevel.objects.all()}
        assert (levels[mug.pk].on_hand, levels[mug.pk].reserved) == (10, 10)
        assert (levels[pen.pk].on_hand, levels[pen.pk].reserved) == (1000, 10)
        assert Checkout.objects.count() == 10
        assert Reservation.objects.filter(status="reserved").count() == 20


def test_one_cart_entered_by_twenty_at_once_has_one_open_checkout(shop):
    variant = factories.make_variant(shop, stock=3)
    token = cart_with(shop, (variant, 3))

    answers = run_threads(
        20, lambda _: shop.storefront.post("checkouts.json", {"cart_token": token, "email": EMAIL})
    )

    assert outcomes(answers) == {(201, None): 20}
    with shop.scope():
        assert Counter(Checkout.objects.values_list("phase", flat=True)) == {"abandoned": 19, "pending": 1}
        assert InventoryLevel.objects.get().reserved == 3


def test_twenty_completions_with_one_key_make_one_order(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop, stock=5), 2))

    answers = run_threads(20, lambda _: complete(shop, checkout, "same"))

    assert set(outcomes(answers)) <= {(200, None), (409, "request_in_progress")}
    assert len({answer.content for answer in answers if answer.status_code == 200}) == 1
    assert_one_order(shop)


def test_twenty_completions_with_different_keys_make_one_order(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop, stock=5), 2))

    answers = run_threads(20, lambda n: complete(shop, checkout, f"key-{n}"))

    assert outcomes(answers) == {(200, None): 1, (409, "checkout_already_completed"): 19}
    assert_one_order(shop)


def test_one_key_at_two_checkouts_at_once_completes_one_of_them(shop):
    variant, rate = factories.make_variant(shop, stock=5), factories.make_rate(shop)
    checkouts = [checkout_in("ready", shop, (variant, 2), rate=rate) for _ in range(2)]

    answers = run_threads(2, lambda n: complete(shop, checkouts[n], "same"))

    assert outcomes(answers)[200, None] == 1
    assert set(outcomes(answers)) <= {
        (200, None),
        (409, "request_in_progress"),
        (422, "idempotency_key_reused"),
    }
    with shop.scope():
        assert Order.objects.count() == 1


def test_customers_and_the_sweeper_who_complete_at_once_make_one_order(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop, stock=5), 2))
    with shop.scope():
        Checkout.objects.update(expires_at=timezone.now())

    answers = run_threads(
        6,
        lambda n: complete(shop, checkout, "same") if n % 2 else sweep_overdue_checkouts(now=timezone.now()),
    )

    assert set(answers[::2]) <= {0, 1}
    assert set(outcomes(answers[1::2])) <= {(200, None), (409, "request_in_progress")}
    assert complete(shop, checkout, "same").status_code == 200
    assert_one_order(shop)


def assert_one_order(shop):
    with shop.scope():
        assert (Order.objects.count(), OutboxDispatch.objects.count(), Customer.objects.count()) == (1, 1, 1)
        level = InventoryLevel.objects.get()
        assert (level.on_hand, level.reserved, level.committed) == (5, 0, 2)


def test_two_guests_with_one_email_complete_at_once_as_one_customer(shop):
    variant, rate = factories.make_variant(shop), factories.make_rate(shop)
    checkouts = [checkout_in("ready", shop, (variant, 1), rate=rate) for _ in range(10)]

    answers = run_threads(10, lambda n: complete(shop, checkouts[n], f"key-{n}"))

    assert outcomes(answers) == {(200, None): 10}
    with shop.scope():
        assert Customer.objects.get().orders_count == 10
        assert sorted(Order.objects.values_list("number", flat=True)) == list(range(1001, 1011))


def test_twenty_orders_of_one_shop_at_once_have_numbers_of_their_own(shop):
    rate = factories.make_rate(shop)
    checkouts = [checkout_in("ready", shop, (factories.make_variant(shop), 1), rate=rate) for _ in range(20)]
    with shop.scope():
        for number, checkout in enumerate(checkouts):
            Checkout.objects.filter(pk=checkout["id"]).update(email=f"guest-{number}@example.com")

    answers = run_threads(20, lambda n: complete(shop, checkouts[n], f"key-{n}"))

    assert outcomes(answers) == {(200, None): 20}
    with shop.scope():
        numbers = list(Order.objects.order_by("pk").values_list("number", flat=True))
        assert len(set(numbers)) == 20
        assert min(numbers) == 1001
        assert Customer.objects.count() == 20


def test_completion_waits_for_no_order_of_another_shop(shop, other_shop):
    checkout = checkout_in("ready", other_shop, (factories.make_variant(other_shop), 1))
    held = checkout_in("ready", shop, (factories.make_variant(shop), 1))

    with shop.scope():
        complete_checkout(token=held["token"], now=timezone.now())
        # The first order has its number, but isn't committed yet.
        (answer,) = run_threads(1, lambda _: complete(other_shop, checkout, "key"))

    assert answer.status_code == 200
    with other_shop.scope():
        assert Order.objects.get().number == 1001


def test_completion_and_a_new_checkout_of_the_same_cart_do_not_deadlock(shop):
    variant, rate = factories.make_variant(shop), factories.make_rate(shop)
    ready = [checkout_in("ready", shop, (variant, 1), rate=rate) for _ in range(8)]

    def work(n):
        checkout = ready[n // 2]
        if n % 2:
            return complete(shop, checkout, f"key-{n}")
        return shop.storefront.post("checkouts.json", {"cart_token": checkout["cart_token"], "email": EMAIL})

    answers = run_threads(16, work)

    codes = outcomes(answers)
    assert codes[200, None] == 8
    assert set(codes) <= {(200, None), (409, "checkout_already_paid"), (409, "cart_not_active")}
