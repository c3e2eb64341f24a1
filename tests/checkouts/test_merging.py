"""Merging carts with checkouts: no unit stays held, and no paid checkout gets stuck."""

from datetime import timedelta

import pytest
from django.utils import timezone

from carts.models import Cart, CartLineItem
from checkouts.models import Checkout
from checkouts.reconciliation import find_differences
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.checkouts.payments.conftest import Till
from tests.problems import problem
from tests.storefront import EMAIL, cart_with, checkout_in, enter_checkout

UNPAID = ("pending", "address", "shipping", "payment")


def merge(shop, token, source):
    return shop.storefront.post(f"carts/{token}/merge.json", {"source_cart_token": source})


def cart(shop, token):
    return shop.storefront.get(f"carts/{token}.json").json()["cart"]


def phase(shop, checkout):
    return shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"]["phase"]


def reserved(shop):
    with shop.scope():
        return sum(InventoryLevel.objects.values_list("reserved", flat=True))


def complete(shop, checkout):
    answer = shop.storefront.post(f"checkouts/{checkout['token']}/complete.json", {}, idempotency_key="once")
    assert answer.status_code == 200, answer.content
    return answer.json()["checkout"]


def let_expire(shop):
    with shop.scope():
        Checkout.objects.update(expires_at=timezone.now() - timedelta(hours=1))


@pytest.fixture
def pay_shop(shop):
    shop.admin.put("settings.json", {"settings": {"commerce.payments.test_card": True}})
    return shop


@pytest.mark.parametrize("reached", UNPAID)
def test_unpaid_checkout_of_the_source_is_abandoned_and_its_stock_freed(shop, reached):
    mug = factories.make_variant(shop, stock=1)
    checkout = checkout_in(reached, shop, (mug, 1))
    target = cart_with(shop)

    answer = merge(shop, target, checkout["cart_token"])

    assert answer.status_code == 200
    assert (phase(shop, checkout), reserved(shop)) == ("abandoned", 0)
    again = shop.storefront.post("checkouts.json", {"cart_token": target, "email": EMAIL})
    assert again.status_code == 201
    types = [event["type"] for event in shop.admin.get("events.json").json()["events"]]
    assert types == ["checkout.created", "checkout.abandoned", "checkout.created"]


@pytest.mark.parametrize("reached", ["processing", "ready"])
@pytest.mark.parametrize("paid", ["source", "target"])
def test_cart_whose_checkout_is_being_paid_is_neither_merged_nor_merged_into(shop, reached, paid):
    mug = factories.make_variant(shop)
    checkout = checkout_in(reached, shop, (mug, 2))
    other = cart_with(shop, (mug, 3))
    pair = (other, checkout["cart_token"]) if paid == "source" else (checkout["cart_token"], other)

    answer = merge(shop, *pair)

    assert problem(answer) == (409, "checkout_in_payment")
    assert answer.json()["checkout_token"] == checkout["token"]
    assert [line["quantity"] for line in cart(shop, other)["line_items"]] == [3]
    assert [line["quantity"] for line in cart(shop, checkout["cart_token"])["line_items"]] == [2]
    assert cart(shop, other)["status"] == cart(shop, checkout["cart_token"])["status"] == "active"
    assert (phase(shop, checkout), reserved(shop)) == ("processing", 2)


def test_payment_page_that_is_open_stands_in_the_way_until_it_is_closed(pay_shop):
    till = Till(pay_shop, "test_card", stock=1)
    till.start()
    source, target = till.shown["cart_token"], cart_with(pay_shop)

    refused = merge(pay_shop, target, source)
    till.confirm({"cancel": True})
    merged = merge(pay_shop, target, source)

    assert problem(refused) == (409, "checkout_in_payment")
    assert merged.status_code == 200
    assert (till.shown["phase"], reserved(pay_shop)) == ("abandoned", 0)


def test_overdue_payment_without_a_gateway_does_not_stand_in_the_way(shop):
    checkout = checkout_in("processing", shop, (factories.make_variant(shop, stock=1), 1))
    let_expire(shop)

    answer = merge(shop, cart_with(shop), checkout["cart_token"])

    assert answer.status_code == 200
    assert (phase(shop, checkout), reserved(shop)) == ("abandoned", 0)


def test_targets_checkout_ends_as_well_when_its_cart_gets_lines(shop):
    """Completing it would convert the cart together with the merged lines."""
    mug = factories.make_variant(shop, stock=5)
    checkout = enter_checkout(shop, (mug, 1))

    answer = merge(shop, checkout["cart_token"], cart_with(shop, (mug, 2)))

    assert answer.status_code == 200
    assert (phase(shop, checkout), reserved(shop)) == ("abandoned", 0)
    second = shop.storefront.post("checkouts.json", {"cart_token": checkout["cart_token"], "email": EMAIL})
    assert [line["quantity"] for line in second.json()["checkout"]["line_items"]] == [3]


def test_targets_checkout_goes_on_when_the_source_was_empty(shop):
    checkout = enter_checkout(shop, (factories.make_variant(shop), 1))

    answer = merge(shop, checkout["cart_token"], cart_with(shop))

    assert answer.status_code == 200
    assert (phase(shop, checkout), reserved(shop)) == ("pending", 1)


def test_merge_over_the_limit_leaves_checkouts_alone(shop):
    mug = factories.make_variant(shop, stock=20_000)
    checkout = enter_checkout(shop, (mug, 9_000))

    answer = merge(shop, cart_with(shop, (mug, 1_000)), checkout["cart_token"])

    assert problem(answer) == (422, "cart_limit_exceeded")
    assert (phase(shop, checkout), reserved(shop)) == ("pending", 9_000)


def test_repeated_merge_leaves_the_targets_new_checkout_alone(shop):
    mug = factories.make_variant(shop)
    target, source = cart_with(shop, (mug, 1)), cart_with(shop, (mug, 2))
    merge(shop, target, source)
    second = shop.storefront.post("checkouts.json", {"cart_token": target, "email": EMAIL}).json()["checkout"]

    answer = merge(shop, target, source)

    assert answer.status_code == 200
    assert (phase(shop, second), reserved(shop)) == ("pending", 3)


def test_lines_added_during_a_checkout_are_not_sold_with_it_and_can_still_be_read(shop):
    mug, pen = factories.make_variant(shop), factories.make_variant(shop)
    checkout = checkout_in("ready", shop, (mug, 1))
    shop.storefront.post(f"carts/{checkout['cart_token']}/lines.json", {"variant_id": pen.pk, "quantity": 2})

    completed = complete(shop, checkout)

    assert [line["variant_id"] for line in completed["line_items"]] == [str(mug.pk)]
    left = cart(shop, checkout["cart_token"])
    assert left["status"] == "converted"
    assert [(line["variant_id"], line["quantity"]) for line in left["line_items"]] == [
        (str(mug.pk), 1),
        (str(pen.pk), 2),
    ]


def as_merged_before(shop, source, target):
    """Leave both carts as an older release did, which merged without regard to checkouts."""
    with shop.scope():
        into = Cart.objects.get(token=target)
        Cart.objects.filter(token=source).update(status="merged", merged_into=into)
        CartLineItem.objects.filter(cart__token=source).delete()


def test_paid_checkout_of_a_cart_that_was_merged_can_be_completed(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))
    target = cart_with(shop)
    as_merged_before(shop, checkout["cart_token"], target)

    completed = complete(shop, checkout)

    assert completed["phase"] == "completed"
    assert cart(shop, checkout["cart_token"])["status"] == "merged"
    assert_one_order_and_email(shop)


def test_sweeper_completes_the_paid_checkout_of_a_cart_that_was_merged(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))
    as_merged_before(shop, checkout["cart_token"], cart_with(shop))
    let_expire(shop)

    sweep_overdue_checkouts(now=timezone.now())

    assert phase(shop, checkout) == "completed"
    assert_one_order_and_email(shop)


def test_paid_checkout_of_a_cart_that_has_expired_can_be_completed(shop):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))
    with shop.scope():
        Cart.objects.update(expires_at=timezone.now() - timedelta(days=1))

    complete(shop, checkout)

    assert cart(shop, checkout["cart_token"])["status"] == "converted"
    assert_one_order_and_email(shop)


def assert_one_order_and_email(shop):
    with shop.scope():
        assert Order.objects.count() == 1
        assert OutboxDispatch.objects.filter(target__task_name="send_email").count() == 1
        assert list(find_differences()) == []
