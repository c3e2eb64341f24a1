"""Concurrent actions on an order, with real threads: one outcome, and exact stock."""

from collections import Counter

import pytest

from commerce.customers.models import Customer
from commerce.events.models import Event
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.storefront import checkout_in
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order_id(shop):
    """Place an order of two out of five units, and return its id."""
    return checkout_in("completed", shop, (factories.make_variant(shop, stock=5), 2))["order_id"]


def act_at_once(shop, order_id, *actions):
    answers = run_threads(
        len(actions), lambda index: shop.admin.post(f"orders/{order_id}/{actions[index]}.json")
    )
    return Counter(
        (action, answer.status_code, answer.json().get("code"))
        for action, answer in zip(actions, answers, strict=True)
    )


def stock():
    return InventoryLevel.objects.values_list("on_hand", "reserved", "committed").get()


def emails():
    keys = OutboxDispatch.objects.values_list("payload__template_key", flat=True)
    return Counter(keys) - Counter(["order.confirmation"])


def test_order_cancelled_by_many_at_once_is_cancelled_once(shop, order_id):
    outcomes = act_at_once(shop, order_id, *["cancel"] * 8)

    assert outcomes == {("cancel", 200, None): 8}
    with shop.scope():
        assert stock() == (5, 0, 0)
        assert Customer.objects.get().orders_count == 0
        assert Event.objects.filter(type="order.cancelled").count() == 1
        assert emails() == {"order.cancelled": 1}


def test_order_cancelled_and_fulfilled_at_once_is_one_of_both(shop, order_id):
    outcomes = act_at_once(shop, order_id, *["cancel", "fulfill"] * 4)

    with shop.scope():
        order = Order.objects.get()
        if order.status == Order.Status.CANCELLED:
            assert outcomes == {("cancel", 200, None): 4, ("fulfill", 409, "order_not_open"): 4}
            assert (order.fulfilled_at, stock(), emails()) == (None, (5, 0, 0), {"order.cancelled": 1})
        else:
            assert outcomes == {("fulfill", 200, None): 4, ("cancel", 409, "order_not_open"): 4}
            assert (order.cancelled_at, stock(), emails()) == (None, (3, 0, 0), {"order.shipped": 1})


def test_order_cancelled_and_paid_at_once_is_cancelled(shop, order_id):
    outcomes = act_at_once(shop, order_id, *["cancel", "mark_paid"] * 4)

    assert outcomes["cancel", 200, None] == 4
    assert set(outcomes) <= {
        ("cancel", 200, None),
        ("mark_paid", 200, None),
        ("mark_paid", 409, "order_not_open"),
    }
    with shop.scope():
        order = Order.objects.get()
        is_paid_first = outcomes["mark_paid", 200, None] > 0
        expected = Order.PaymentStatus.REFUNDED if is_paid_first else Order.PaymentStatus.PENDING
        assert (order.status, order.payment_status) == ("cancelled", expected)
        assert stock() == (5, 0, 0)


def test_order_paid_and_fulfilled_at_once_is_closed(shop, order_id):
    outcomes = act_at_once(shop, order_id, *["mark_paid", "fulfill"] * 4)

    assert outcomes == {("mark_paid", 200, None): 4, ("fulfill", 200, None): 4}
    with shop.scope():
        assert Order.objects.get().status == "closed"
        assert stock() == (3, 0, 0)
        assert emails() == {"order.shipped": 1}


def test_cancellations_and_completions_of_one_customer_do_not_deadlock(shop):
    variant, rate = factories.make_variant(shop, stock=100), factories.make_rate(shop)
    placed = [checkout_in("completed", shop, (variant, 1), rate=rate)["order_id"] for _ in range(8)]
    ready = [checkout_in("ready", shop, (variant, 1), rate=rate)["token"] for _ in range(8)]

    def work(index):
        if index % 2:
            return shop.admin.post(f"orders/{placed[index // 2]}/cancel.json")
        path = f"checkouts/{ready[index // 2]}/complete.json"
        return shop.storefront.post(path, {}, idempotency_key=f"key-{index}")

    answers = run_threads(16, work)

    assert {answer.status_code for answer in answers} == {200}
    with shop.scope():
        assert stock() == (100, 0, 8)
        assert Customer.objects.get().orders_count == 8
