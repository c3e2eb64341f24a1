"""`Idempotency-Key` of shoppers, who share a public key: no request gets the stored answer of another shopper."""

import pytest

from carts.models import Cart
from checkouts.models import Checkout
from commerce.rest.models import IdempotencyRecord
from config.versions import CURRENT_VERSION
from tests import factories
from tests.problems import problem
from tests.rest.bodies import serializer_of
from tests.rest.routes import routes
from tests.storefront import EMAIL, cart_with, checkout_in

POSTS = [route for route in routes(surface="storefront") if route.method == "POST"]
# Requests that don't identify the shopper, so that only long keys are stored.
OPEN_TO_ALL = {f"POST storefront/{CURRENT_VERSION}/carts.json"}


def replayed(answer):
    return answer.headers.get("Idempotent-Replayed") == "true"


@pytest.fixture
def variant(shop):
    return factories.make_variant(shop)


@pytest.mark.parametrize("key", ["1", "x" * 15])
def test_short_key_is_not_remembered_for_a_cart(shop, key):
    body = {"market_id": shop.market.pk}

    answers = [shop.storefront.post("carts.json", body, idempotency_key=key) for _ in range(2)]

    assert [(answer.status_code, replayed(answer)) for answer in answers] == [(201, False)] * 2
    assert len({answer.json()["cart"]["token"] for answer in answers}) == 2
    with shop.scope():
        assert Cart.objects.count() == 2
        assert not IdempotencyRecord.objects.exists()


def test_long_key_makes_one_cart(shop):
    body, key = {"market_id": shop.market.pk}, "x" * 16

    first = shop.storefront.post("carts.json", body, idempotency_key=key)
    second = shop.storefront.post("carts.json", body, idempotency_key=key)
    other = shop.storefront.post("carts.json", body | {"referrer": "elsewhere"}, idempotency_key=key)

    assert (second.json(), replayed(second)) == (first.json(), True)
    assert problem(other) == (422, "idempotency_key_reused")
    with shop.scope():
        assert Cart.objects.count() == 1


def test_key_of_two_shoppers_is_each_ones_own_on_their_carts(shop, variant):
    tokens = [cart_with(shop) for _ in range(2)]
    body = {"variant_id": variant.pk, "quantity": 1}

    def add(token, **changes):
        return shop.storefront.post(f"carts/{token}/lines.json", body | changes, idempotency_key="1")

    answers = [add(token) for token in tokens]
    again, other = add(tokens[0]), add(tokens[0], quantity=2)

    assert [answer.json()["cart"]["token"] for answer in answers] == tokens
    assert [replayed(answer) for answer in answers] == [False, False]
    assert (again.json(), replayed(again)) == (answers[0].json(), True)
    assert problem(other) == (422, "idempotency_key_reused")


def test_key_of_two_shoppers_makes_each_a_checkout(shop, variant):
    tokens = [cart_with(shop, (variant, 1)) for _ in range(2)]

    def enter(token, **changes):
        body = {"cart_token": token, "email": EMAIL} | changes
        return shop.storefront.post("checkouts.json", body, idempotency_key="1")

    answers = [enter(token) for token in tokens]
    again, other = enter(tokens[0]), enter(tokens[0], email="eve@example.com")

    assert [answer.json()["checkout"]["cart_token"] for answer in answers] == tokens
    assert (again.json(), replayed(again)) == (answers[0].json(), True)
    assert problem(other) == (422, "idempotency_key_reused")
    with shop.scope():
        assert Checkout.objects.count() == 2


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"{}", b'{"cart_token": null}', b'{"cart_token": {"a": []}}']
)
def test_body_that_names_no_shopper_is_refused_and_leaves_no_record(shop, body):
    answer = shop.storefront.post("checkouts.json", body, idempotency_key="1")

    assert answer.status_code in {400, 404, 422}
    with shop.scope():
        assert not IdempotencyRecord.objects.exists()


def test_key_of_two_shoppers_starts_each_ones_payment(shop, variant):
    rate = factories.make_rate(shop)
    tokens = [checkout_in("payment", shop, (variant, 1), rate=rate)["token"] for _ in range(2)]

    def start(token):
        return shop.storefront.post(f"checkouts/{token}/start_payment.json", {}, idempotency_key="1")

    answers = [start(token) for token in tokens]
    again = start(tokens[0])

    assert [answer.json()["checkout"]["token"] for answer in answers] == tokens
    assert len({answer.json()["payment_attempt"]["id"] for answer in answers}) == 2
    assert (again.json(), replayed(again)) == (answers[0].json(), True)


def test_every_post_of_shoppers_names_whose_it_is():
    nobodys = {
        str(route)
        for route in POSTS
        if not any(name == "token" for _, name in route.placeholders)
        and route.view_class.shopper_fields.get(route.action) not in serializer_of(route).fields
    }

    assert nobodys == OPEN_TO_ALL


@pytest.mark.parametrize("again", [" {}", "{}\n", "\u00a0{}\t"])
def test_key_is_repeated_however_the_token_is_spaced(shop, variant, again):
    cart = cart_with(shop, (variant, 1))

    answers = [
        shop.storefront.post("checkouts.json", {"cart_token": token, "email": EMAIL}, idempotency_key="1")
        for token in (cart, again.format(cart), cart)
    ]

    assert [answer.status_code for answer in answers] == [201] * 3
    assert [replayed(answer) for answer in answers] == [False, True, True]
    assert len({answer.json()["checkout"]["token"] for answer in answers}) == 1
    with shop.scope():
        assert Checkout.objects.count() == 1
