"""Each checkout stores a copy of its cart, so a cart is limited to a hundred checkouts an hour."""

import pytest

from checkouts.models import Checkout
from commerce.redis import client as redis_client
from tests import factories
from tests.problems import problem
from tests.storefront import EMAIL, cart_with
from tests.threads import run_threads


@pytest.fixture
def variant(shop):
    return factories.make_variant(shop, price_cents=2000)


@pytest.fixture
def cart(shop, variant):
    return cart_with(shop, (variant, 1))


def enter(shop, cart, **options):
    return shop.storefront.post("checkouts.json", {"cart_token": cart, "email": EMAIL}, **options)


def checkouts(shop):
    with shop.scope():
        return Checkout.objects.count()


def test_hundred_checkouts_of_a_cart_are_enough(shop, variant, cart):
    made = [enter(shop, cart).status_code for _ in range(100)]

    refused = enter(shop, cart)

    assert made == [201] * 100
    assert problem(refused) == (429, "rate_limited")
    (name,) = redis_client().scan_iter("checkouts:*")
    assert 0 < redis_client().ttl(name) <= int(refused["Retry-After"]) <= 3600
    assert checkouts(shop) == 100
    assert enter(shop, cart_with(shop, (variant, 1))).status_code == 201


def test_refused_and_replayed_requests_do_not_count(shop, variant, cart, settings):
    settings.CHECKOUTS_PER_CART = 2
    empty = factories.make_cart(shop)
    for _ in range(3):
        assert problem(enter(shop, empty.token)) == (422, "cart_empty")
        assert problem(enter(shop, "nobody-knows-it")) == (404, "not_found")
    for _ in range(3):
        assert enter(shop, cart, idempotency_key="once").status_code == 201

    assert [enter(shop, cart).status_code for _ in range(2)] == [201, 429]


def test_zero_is_no_limit(shop, cart, settings):
    settings.CHECKOUTS_PER_CART = 0

    assert [enter(shop, cart).status_code for _ in range(3)] == [201] * 3
    assert list(redis_client().scan_iter("checkouts:*")) == []


@pytest.mark.django_db(transaction=True)
def test_limit_holds_for_requests_at_once(shop, cart, settings):
    settings.CHECKOUTS_PER_CART = 3

    answers = run_threads(8, lambda _: enter(shop, cart))

    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [429] * 5
    assert checkouts(shop) == 3
