"""An order's number: drawn when everything else is ready, and put into the order's events and its email by the database."""

import os

import psycopg
import pytest
from django.db import connections

from commerce.events.models import Event
from commerce.orders.models import Order, OrderCounter
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.problems import problem
from tests.storefront import checkout_in, take_step
from tests.tenancy.test_messages import messages
from tests.tenancy.test_timeouts import impatient  # noqa: F401  a fixture

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def token(shop):
    """A checkout that can be completed."""
    return checkout_in("ready", shop, (factories.make_variant(shop, stock=5), 1))["token"]


def complete(shop, token, key="number-1"):
    return shop.storefront.post(f"checkouts/{token}/complete.json", {}, idempotency_key=key)


def test_number_is_drawn_by_the_message_that_commits(shop, token):
    # A new connection prepares its statements, which shows them.
    connections["default"].close()
    connections["default"].close_pool()

    with messages() as sent:
        assert complete(shop, token).status_code == 200

    *earlier, last = [message for message in sent if "PREPARE" in message]
    for written in ("orders ", "order_line_items ", "events ", "outbox_dispatches "):
        assert f"INSERT INTO {written}" in last
    assert "UPDATE checkouts" in last
    assert last.endswith("COMMIT")
    assert not any("INSERT INTO orders " in message for message in earlier)


def test_events_and_email_have_the_number_of_the_order(shop):
    rate = factories.make_rate(shop)
    checkout = checkout_in("shipping", shop, (factories.make_variant(shop, stock=5), 1), rate=rate)
    token = checkout["token"]
    with shop.scope():
        # It pays for everything, so that the order is paid at once.
        card = factories.make_voucher(shop, balance_cents=int(checkout["totals"]["total_cents"]))
    shop.storefront.post(f"checkouts/{token}/discount.json", {"code": card.code})
    for phase in ("payment", "processing", "ready"):
        take_step(phase, shop, token, rate=rate)

    assert complete(shop, token).status_code == 200

    with shop.scope():
        order = Order.objects.get()
        events = [(event.type, event.data.get("order_number")) for event in Event.objects.order_by("pk")]
        dispatch = OutboxDispatch.objects.get(target__task_name="send_email")
    assert (order.number, order.payment_status) == (1001, "paid")
    assert events[-4:] == [
        ("voucher.redeemed", None),
        ("voucher.depleted", None),
        ("checkout.completed", "1001"),
        ("order.paid", "1001"),
    ]
    assert dispatch.payload["ctx"]["order"]["number"] == "1001"


@pytest.mark.usefixtures("impatient")
def test_order_that_waits_too_long_for_its_number_can_be_completed_again(shop, token):
    with shop.scope():
        OrderCounter.objects.create(last_number=1000)

    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as holder:
        holder.execute("SELECT set_config('commerce.account_id', %s, true)", [str(shop.id)])
        holder.execute("SELECT 1 FROM order_counters FOR UPDATE")
        refused = complete(shop, token)
        holder.rollback()
    with shop.scope():
        left = (Order.objects.count(), Event.objects.filter(type="checkout.completed").count())
        left += (OutboxDispatch.objects.count(),)
    answered = complete(shop, token)

    assert problem(refused) == (503, "busy")
    assert refused.headers["Retry-After"] == "1"
    assert left == (0, 0, 0)
    assert answered.status_code == 200
    with shop.scope():
        assert [order.number for order in Order.objects.all()] == [1001]
