"""Archiving a shop while checkouts, payments and orders are created, with real threads."""

from functools import partial

import pytest
from django.utils import timezone

from checkouts.models import Checkout, CheckoutPaymentAttempt
from checkouts.operations import create_checkout
from checkouts.reconciliation import find_differences
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.outbox.worker import run_due
from commerce.payments.models import FakeCardPayment
from tests import factories
from tests.storefront import EMAIL, cart_with, checkout_in
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 4
URLS = {"return_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no"}
HOOK = {"url": "https://1.1.1.1/", "topics": ["order.paid"]}
CLOSED = (401, "unauthenticated")


def while_archived(shop, *calls):
    """Run the calls concurrently with archiving; return `(status, code)` of each."""
    archive = lambda: shop.workspace.delete(f"accounts/{shop.handle}.json")  # noqa: E731
    archived, *answers = run_threads(len(calls) + 1, lambda index: (archive, *calls)[index]())
    assert archived.status_code == 200
    return [(answer.status_code, answer.json().get("code")) for answer in answers]


def assert_nothing_is_open(shop, *, orders=0):
    with shop.scope():
        assert list(find_differences()) == []
        phases = set(Checkout.objects.values_list("phase", flat=True))
        assert phases <= {"abandoned", "completed"}
        assert sum(InventoryLevel.objects.values_list("reserved", flat=True)) == 0
        assert Order.objects.count() == orders


def enter_checkout(shop, token):
    return shop.storefront.post("checkouts.json", {"cart_token": token, "email": EMAIL})


def test_archiving_and_the_creation_of_checkouts(make_shop):
    for _ in range(ROUNDS):
        shop = make_shop()
        mug = factories.make_variant(shop)
        enter = [partial(enter_checkout, shop, cart_with(shop, (mug, 1))) for _ in range(5)]

        answers = while_archived(shop, *enter)

        assert set(answers) <= {(201, None), CLOSED}
        assert_nothing_is_open(shop)


def test_account_can_be_changed_while_checkouts_are_being_created(make_shop):
    shop = make_shop()
    cart = cart_with(shop, (factories.make_variant(shop), 1))

    def change(index):
        if index:
            return shop.admin.post("webhook_endpoints.json", HOOK)
        return shop.workspace.put(f"accounts/{shop.id}.json", {"expected_version": 1, "name": "New"})

    with shop.scope():
        create_checkout(cart_token=cart, email=EMAIL, now=timezone.now())
        answers = run_threads(2, change)

    assert [answer.status_code for answer in answers] == [200, 201]


def test_archiving_and_the_start_of_a_payment(make_shop):
    for _ in range(ROUNDS):
        shop = make_shop()
        shop.admin.put("settings.json", {"settings": {"commerce.payments.test_card": True}})
        checkout = checkout_in("payment", shop, (factories.make_variant(shop), 1), payment_method="test_card")
        path = f"checkouts/{checkout['token']}/start_payment.json"

        (started,) = while_archived(shop, lambda: shop.storefront.post(path, URLS))  # noqa: B023
        with shop.scope():
            FakeCardPayment.objects.filter(status="open").update(status="succeeded")
        for _ in range(3):
            run_due()

        assert started in {(200, None), (409, "checkout_expired"), CLOSED}
        assert_nothing_is_open(shop)
        with shop.scope():
            assert set(FakeCardPayment.objects.values_list("status", flat=True)) <= {"refunded"}
            assert set(CheckoutPaymentAttempt.objects.values_list("status", flat=True)) <= {"failed"}


def test_archiving_and_completion(make_shop):
    for _ in range(ROUNDS):
        shop = make_shop()
        checkout = checkout_in("ready", shop, (factories.make_variant(shop), 1))
        path = f"checkouts/{checkout['token']}/complete.json"

        (completed,) = while_archived(
            shop,
            lambda: shop.storefront.post(path, {}, idempotency_key="a"),  # noqa: B023
        )

        assert completed in {(200, None), (409, "checkout_expired"), CLOSED}
        assert_nothing_is_open(shop, orders=int(completed == (200, None)))


def test_archiving_at_once_ends_checkouts_once(shop):
    checkout_in("payment", shop, (factories.make_variant(shop), 1))

    answers = run_threads(4, lambda _: shop.workspace.delete(f"accounts/{shop.handle}.json"))

    assert {answer.status_code for answer in answers} == {200}
    assert_nothing_is_open(shop)
