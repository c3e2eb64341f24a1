"""Lines that are read together with the checkout's lock."""

import threading
import time

import pytest
from django.db import connection, connections
from django.utils import timezone

from carts.operations import set_customer
from checkouts.models import Checkout, CheckoutLineItem
from checkouts.queries import get_checkout, lock_and_convert_cart, lock_checkout
from tests import factories
from tests.storefront import ADDRESS, EMAIL, cart_with, checkout_in, enter_checkout
from tests.tenancy.watching import statements_of

pytestmark = pytest.mark.django_db(transaction=True)


def wait_until_someone_waits():
    deadline = time.monotonic() + 30
    waiting = 0
    while not waiting:
        assert time.monotonic() < deadline
        time.sleep(0.01)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            (waiting,) = cursor.fetchone()


def start_waiting(work):
    """Do the work in a thread, and return the thread once it waits for a lock."""

    def run():
        try:
            work()
        finally:
            connections.close_all()

    waiting = threading.Thread(target=run)
    waiting.start()
    wait_until_someone_waits()
    return waiting


@pytest.mark.parametrize(
    "lock", [lock_checkout, lambda token: lock_and_convert_cart(token, now=timezone.now())]
)
def test_lines_that_change_while_the_lock_is_awaited_are_read_again(shop, lock):
    token = checkout_in("address", shop, (factories.make_variant(shop), 2))["token"]
    seen = []

    def read_under_lock():
        with shop.scope():
            seen.extend(line.discount_cents for line in lock(token).lines)

    with shop.scope():
        loaded = lock_checkout(token)
        waiting = start_waiting(read_under_lock)
        CheckoutLineItem.objects.filter(pk=loaded.lines[0].pk).update(discount_cents=7)
        Checkout.objects.filter(pk=loaded.checkout.pk).update(updated_at=timezone.now())
    waiting.join()

    assert seen == [7]


def test_discount_that_is_activated_while_the_lock_is_awaited_applies(shop):
    token = enter_checkout(shop, (factories.make_variant(shop, price_cents=1000), 2))["token"]
    answers = []

    def send_address():
        body = {"shipping_address": ADDRESS, "same_as_shipping": True}
        answers.append(shop.storefront.put(f"checkouts/{token}/address.json", body))

    with shop.scope():
        loaded = lock_checkout(token)
        waiting = start_waiting(send_address)
        factories.make_discount(shop)
        # Another step of the same checkout, which may have seen the discount already.
        Checkout.objects.filter(pk=loaded.checkout.pk).update(updated_at=timezone.now())
    waiting.join()

    assert [answer.json()["checkout"]["totals"]["discount_cents"] for answer in answers] == ["200"]


def test_customer_who_is_set_while_the_cart_is_awaited_is_the_checkouts(shop):
    token = cart_with(shop, (factories.make_variant(shop, stock=3), 1))
    customer = factories.make_customer(shop, email="ada@example.com")
    answers = []

    def enter():
        answers.append(shop.storefront.post("checkouts.json", {"cart_token": token, "email": EMAIL}))

    with shop.scope():
        set_customer(token=token, customer_id=customer.pk, now=timezone.now())
        entering = start_waiting(enter)
    entering.join()

    assert [answer.json()["checkout"]["customer_id"] for answer in answers] == [str(customer.pk)]


def test_lines_arrive_as_they_are_stored(shop):
    attributes = {"engraving": "„Für Ada“ \\u0041\n", "gift": "yes"}
    variants = [factories.make_variant(shop, sku=f"S-{n}") for n in range(3)]
    token = checkout_in("shipping", shop, *((variant, 2) for variant in variants))["token"]
    with shop.scope():
        CheckoutLineItem.objects.update(custom_attributes=attributes)
        stored = list(CheckoutLineItem.objects.order_by("position"))
        statements = []

        def note(execute, sql, *arguments):
            statements.extend(statements_of(sql))
            return execute(sql, *arguments)

        with connection.execute_wrapper(note):
            lines = get_checkout(token).lines

    assert len(statements) == 1
    assert [vars(line) | {"_state": None} for line in lines] == [
        vars(line) | {"_state": None} for line in stored
    ]
    assert lines[0].custom_attributes == attributes
