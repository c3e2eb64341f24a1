"""Merging carts while the shopper uses their checkouts, with real threads."""

import pytest

from carts.models import Cart
from checkouts.models import Checkout
from checkouts.reconciliation import find_differences
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from tests import factories
from tests.storefront import EMAIL, cart_with, checkout_in
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 5


def merge(shop, token, source):
    return shop.storefront.post(f"carts/{token}/merge.json", {"source_cart_token": source})


def answers_of(*calls):
    """Run the calls concurrently; return `(status, code)` of each."""
    answers = run_threads(len(calls), lambda index: calls[index]())
    return [(answer.status_code, answer.json().get("code")) for answer in answers]


def held_and_open(shop):
    """Return the reserved units and those of open checkouts, after checking that the books agree."""
    with shop.scope():
        assert list(find_differences()) == []
        reserved = sum(InventoryLevel.objects.values_list("reserved", flat=True))
        open_ones = Checkout.objects.exclude(phase__in=["completed", "abandoned"])
        units = open_ones.values_list("line_items__quantity", flat=True)
        return reserved, sum(units)


@pytest.mark.parametrize("of", ["source", "target"])
def test_merge_and_the_creation_of_a_checkout(shop, of):
    mug = factories.make_variant(shop, stock=50)
    for _ in range(ROUNDS):
        target, source = cart_with(shop, (mug, 1)), cart_with(shop, (mug, 2))
        body = {"cart_token": source if of == "source" else target, "email": EMAIL}

        merged, created = answers_of(
            lambda: merge(shop, target, source),  # noqa: B023  called at once
            lambda: shop.storefront.post("checkouts.json", body),  # noqa: B023
        )

        assert merged == (200, None)
        assert created in ({(201, None), (409, "cart_not_active")} if of == "source" else {(201, None)})
        reserved, units = held_and_open(shop)
        # An open checkout of the target contains all of its lines.
        assert reserved == units
        assert units % 3 == 0


@pytest.mark.parametrize("of", ["source", "target"])
def test_merge_and_the_start_of_a_payment(shop, of):
    mug, rate = factories.make_variant(shop, stock=50), factories.make_rate(shop)
    for _ in range(ROUNDS):
        checkout = checkout_in("payment", shop, (mug, 2), rate=rate)
        other = cart_with(shop, (mug, 1))
        pair = (other, checkout["cart_token"]) if of == "source" else (checkout["cart_token"], other)

        outcome = answers_of(
            lambda: merge(shop, *pair),  # noqa: B023
            lambda: shop.storefront.post(f"checkouts/{checkout['token']}/start_payment.json", {}),  # noqa: B023
        )

        assert outcome in (
            [(200, None), (409, "checkout_expired")],
            [(409, "checkout_in_payment"), (200, None)],
        )
        reserved, units = held_and_open(shop)
        assert reserved == units


@pytest.mark.parametrize("of", ["source", "target"])
def test_merge_and_completion(shop, of):
    mug, rate = factories.make_variant(shop, stock=50), factories.make_rate(shop)
    for number in range(1, ROUNDS + 1):
        checkout = checkout_in("ready", shop, (mug, 2), rate=rate)
        other = cart_with(shop, (mug, 1))
        pair = (other, checkout["cart_token"]) if of == "source" else (checkout["cart_token"], other)
        path = f"checkouts/{checkout['token']}/complete.json"

        merged, completed = answers_of(
            lambda: merge(shop, *pair),  # noqa: B023
            lambda: shop.storefront.post(path, {}, idempotency_key=path),  # noqa: B023
        )

        assert completed == (200, None)
        assert merged in {(409, "checkout_in_payment"), (409, "cart_not_active")}
        assert held_and_open(shop) == (0, 0)
        with shop.scope():
            assert Order.objects.count() == number
            assert [line.quantity for line in Cart.objects.get(token=other).line_items.all()] == [1]


def test_two_merges_that_cross_while_both_carts_have_a_checkout(shop):
    mug = factories.make_variant(shop, stock=50)
    for _ in range(ROUNDS):
        one, two = cart_with(shop, (mug, 1)), cart_with(shop, (mug, 2))
        for token in (one, two):
            shop.storefront.post("checkouts.json", {"cart_token": token, "email": EMAIL})

        outcome = answers_of(lambda: merge(shop, one, two), lambda: merge(shop, two, one))  # noqa: B023

        assert sorted(outcome) == [(200, None), (409, "cart_not_active")]
        assert held_and_open(shop) == (0, 0)
        with shop.scope():
            left = Cart.objects.get(status="active", token__in=[one, two])
            assert [line.quantity for line in left.line_items.all()] == [3]
