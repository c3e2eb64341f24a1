"""Uses of discounts held, redeemed, released and returned concurrently, with real threads."""

from collections import Counter
from datetime import timedelta
from itertools import count

import pytest
from django.db import connection
from django.utils import timezone

from checkouts.models import Checkout
from checkouts.reconciliation import find_differences
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.loops.models import PostponedRow
from commerce.orders.models import Order
from discounts.in_force import find_rule_by_code
from discounts.models import Discount, DiscountHold, DiscountRedemption
from discounts.uses import Use, hold_uses, redeem_uses, release_uses, return_uses
from tests import factories
from tests.rows import make_row
from tests.storefront import ADDRESS, cart_with
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)

SHOPPERS = 8
URLS = {"return_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no"}
# Indexes of the discounts that a shopper enters; each shopper starts at another one.
CHOICES = {
    "one": [(1,)],
    "several": [(0, 1, 2), (2, 1), (1, 0), (2, 0, 1)],
}

_numbers = count(1)


def deadlocks():
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return cursor.fetchone()[0]


def usage(shop):
    """Return for each discount its count, the held uses, and those of orders that aren't cancelled."""
    with shop.scope():
        held = Counter(DiscountHold.objects.values_list("discount_id", flat=True))
        kinds = list(DiscountRedemption.objects.values_list("discount_id", "kind"))
        return [
            (
                discount.usage_count,
                held[discount.pk],
                kinds.count((discount.pk, "redeem")) - kinds.count((discount.pk, "reversal")),
            )
            for discount in Discount.objects.order_by("pk")
        ]


def stay_in_the_transaction():
    """Keep the transaction open for a while, like the rest of a request, so that others have to wait."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.003)")


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("first_order_only", [False, True])
def test_steps_of_uses_at_once_do_not_wait_for_each_other_in_a_circle(shop, choice, first_order_only):
    limits = {"first_order_only": first_order_only, "usage_limit_total": 10_000}
    discounts = [factories.make_discount(shop, code=f"C{n}", **limits) for n in range(3)]
    with shop.scope():
        orders = [make_row(Order, status="open", email=f"{n}@example.com") for n in range(SHOPPERS)]
    before = deadlocks()

    def work(number):
        order = orders[number]
        for turn in range(30):
            chosen = CHOICES[choice][(number + turn) % len(CHOICES[choice])]
            uses = [Use(discounts[index].pk, f"C{index}", 100) for index in chosen]
            checkout_id = 1000 * number + turn
            with shop.scope():
                find_rule_by_code("C1")
                stay_in_the_transaction()
            with shop.scope():
                hold_uses(
                    uses,
                    checkout_id=checkout_id,
                    customer_id=None,
                    email=f"{number}-{turn}@example.com",
                    currency="EUR",
                )
                stay_in_the_transaction()
            with shop.scope():
                if turn % 10:
                    release_uses(checkout_ids=[checkout_id])
                elif turn == 0:
                    redeem_uses(checkout_id=checkout_id, order_id=order.pk, customer_id=order.customer_id)
                stay_in_the_transaction()
            if turn == 20 and number % 2:
                with shop.scope():
                    return_uses(order_id=order.pk)
                    stay_in_the_transaction()

    assert run_threads(SHOPPERS, work) == [None] * SHOPPERS
    assert deadlocks() == before
    # Each shopper leaves the holds of turns 10 and 20, and every other order was cancelled.
    with shop.scope():
        release_uses(checkout_ids=list(DiscountHold.objects.values_list("checkout_id", flat=True)))
    for used, held, redeemed in usage(shop):
        assert (used, held) == (redeemed, 0)
    with shop.scope():
        returned = DiscountRedemption.objects.filter(kind="reversal").values("order_id").distinct().count()
    assert returned == SHOPPERS // 2


class Shopper:
    """Goes up to the payment over the storefront API. Any response other than 2xx fails the test."""

    def __init__(self, shop, variant, rate, codes):
        self.shop, self.rate, self.codes = shop, rate, codes
        self.cart = cart_with(shop, (variant, 1))
        self.enter()

    def send(self, method, path, body, **headers):
        answer = getattr(self.shop.storefront, method)(path, body, **headers)
        assert answer.status_code in (200, 201), answer.content
        return answer.json()

    def enter(self):
        body = {"cart_token": self.cart, "email": f"{next(_numbers)}@example.com"}
        self.path = f"checkouts/{self.send('post', 'checkouts.json', body)['checkout']['token']}"
        shipping = {"shipping_method_id": self.rate.method_id, "shipping_rate_id": self.rate.pk}
        address = {"shipping_address": ADDRESS, "same_as_shipping": True}
        self.send("put", f"{self.path}/address.json", address)
        self.send("put", f"{self.path}/shipping.json", shipping)
        for code in self.codes:
            self.send("post", f"{self.path}/discount.json", {"code": code})

    def start(self, method="cod"):
        self.send("put", f"{self.path}/payment_method.json", {"payment_method": method})
        self.send("post", f"{self.path}/start_payment.json", URLS)

    def decline(self):
        body = {"callback_payload": {"cancel": True}}
        assert self.send("post", f"{self.path}/confirm.json", body)["checkout"]["phase"] == "failed"

    def complete(self):
        self.send("post", f"{self.path}/confirm.json", {"callback_payload": {}})
        done = self.send("post", f"{self.path}/complete.json", {}, idempotency_key=self.path)
        return done["checkout"]["order_id"]

    def cancel(self, order_id):
        answer = self.shop.admin.post(f"orders/{order_id}/cancel.json", {})
        assert answer.status_code == 200, answer.content

    def let_time_pass(self):
        with self.shop.scope():
            late = timezone.now() - timedelta(minutes=1)
            Checkout.objects.filter(token=self.path.partition("/")[2]).update(expires_at=late)
        sweep_overdue_checkouts(now=timezone.now())


def starts_over(shopper):
    shopper.start()
    shopper.enter()
    shopper.start()
    shopper.complete()
    return len(shopper.codes)


def is_declined(shopper):
    shopper.start("test_card")
    shopper.decline()
    return 0


def pays_at_the_second_try(shopper):
    shopper.start("test_card")
    shopper.decline()
    shopper.start()
    shopper.complete()
    return len(shopper.codes)


def cancels(shopper):
    shopper.start()
    shopper.cancel(shopper.complete())
    return 0


def walks_away(shopper):
    shopper.start()
    shopper.let_time_pass()
    return 0


STORIES = (starts_over, is_declined, cancels, walks_away, pays_at_the_second_try)


@pytest.mark.parametrize("choice", CHOICES)
def test_shoppers_of_one_code_are_never_told_that_it_is_busy(shop, choice):
    shop.admin.put("settings.json", {"settings": {"commerce.payments.test_card": True}})
    for n in range(3):
        factories.make_discount(shop, code=f"C{n}", stackable=True, usage_limit_total=10_000)
    variant, rate = factories.make_variant(shop, stock=1000), factories.make_rate(shop)
    before = deadlocks()

    def work(number):
        used = 0
        for turn in range(4):
            chosen = CHOICES[choice][(number + turn) % len(CHOICES[choice])]
            shopper = Shopper(shop, variant, rate, [f"C{index}" for index in chosen])
            used += STORIES[(number + 2 * turn) % len(STORIES)](shopper)
        return used

    used = run_threads(SHOPPERS, work)

    assert [result for result in used if not isinstance(result, int)] == []
    # A checkout that another sweeper had locked is ended now.
    sweep_overdue_checkouts(now=timezone.now())
    assert deadlocks() == before
    figures = usage(shop)
    assert all((count, held) == (redeemed, 0) for count, held, redeemed in figures)
    assert sum(count for count, *_ in figures) == sum(used)
    with shop.scope():
        assert list(find_differences()) == []
        assert not PostponedRow.objects.exists()


def test_archiving_releases_for_all_while_payments_fail_and_orders_are_cancelled(make_shop):
    for _ in range(3):
        shop = make_shop()
        shop.admin.put("settings.json", {"settings": {"commerce.payments.test_card": True}})
        for n in range(3):
            factories.make_discount(shop, code=f"C{n}", stackable=True)
        variant, rate = factories.make_variant(shop), factories.make_rate(shop)
        shoppers = [
            Shopper(shop, variant, rate, [f"C{index}" for index in CHOICES["several"][number % 4]])
            for number in range(6)
        ]
        for shopper in shoppers:
            shopper.start("cod" if shopper in shoppers[4:] else "test_card")
        orders = [shopper.complete() for shopper in shoppers[4:]]
        before = deadlocks()
        calls = [
            lambda: shop.workspace.delete(f"accounts/{shop.handle}.json"),  # noqa: B023
            *(
                lambda path=shopper.path: shop.storefront.post(  # noqa: B023
                    f"{path}/confirm.json", {"callback_payload": {"cancel": True}}
                )
                for shopper in shoppers[:4]
            ),
            *(
                lambda order_id=order_id: shop.workspace.post(  # noqa: B023
                    f"{shop.handle}/orders/{order_id}/cancel.json",  # noqa: B023
                    {},
                )
                for order_id in orders
            ),
        ]

        answers = run_threads(len(calls), lambda index: calls[index]())  # noqa: B023

        assert {answer.status_code for answer in answers} <= {200, 401, 409}
        assert [answers[0].status_code, *(answer.status_code for answer in answers[5:])] == [200, 200, 200]
        assert deadlocks() == before
        assert usage(shop) == [(0, 0, 0)] * 3
