"""Pages of a shop with many orders and customers read only the rows that they show or count."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from checkouts.models import Checkout
from commerce.customers.models import Customer
from commerce.orders.models import Order
from tests import factories
from tests.copies import analyze, copy
from tests.storefront import checkout_in

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 3000


@pytest.fixture
def large(shop):
    """Orders that are open, unpaid and to be shipped, each of a customer of its own."""
    checkout_in("completed", shop, (factories.make_variant(shop, stock=1), 1))
    with shop.scope():
        order = Order.objects.get()
        assert (order.status, order.payment_status, order.fulfillment_status) == (
            "open",
            "pending",
            "unfulfilled",
        )
        copy(
            order.customer,
            MANY,
            id="t.id + i",
            email="'shopper' || i || '@example.com'",
            normalised_email="'shopper' || i || '@example.com'",
            last_name="'Name' || i",
        )
        copy(
            order,
            MANY,
            id="t.id + i",
            number="t.number + i",
            token="gen_random_uuid()::text",
            email="'shopper' || i || '@example.com'",
            checkout_id="t.checkout_id + i",
            customer_id="t.customer_id + i",
        )
    analyze("orders", "customers")
    return shop


def explain(shop, part, visit):
    """The plan of the statement of a visit that contains this part, without the lines for planning."""
    with CaptureQueriesContext(connection) as queries:
        assert visit().status_code == 200
    (sql,) = [one["sql"] for one in queries.captured_queries if part in one["sql"]]
    with shop.scope(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        return "\n".join(line for (line,) in cursor.fetchall())


@pytest.mark.parametrize(
    ("index", "columns"),
    [
        ("orders_to_pay", {"payment_method": "cod"}),
        ("orders_to_fulfil", {"payment_method": "bank_transfer"}),
        (
            "orders_to_refund",
            {"payment_method": "bank_transfer", "status": "cancelled", "cancelled_at": "2026-11-23T00:00Z"},
        ),
    ],
)
def test_navigation_finds_that_no_order_is_due_without_reading_those_that_nearly_are(
    large, owner, index, columns
):
    with large.scope():
        Order.objects.update(**columns)
    analyze("orders")

    plan = explain(large, "task_link", lambda: owner.get("customers/segment/"))

    assert f"Index Only Scan using {index} on orders" in plan, plan


@pytest.mark.parametrize("column", ["status", "payment_status", "fulfillment_status"])
def test_orders_that_differ_from_most_are_found_by_an_index(large, owner, column):
    rare = {"status": "closed", "payment_status": "paid", "fulfillment_status": "fulfilled"}[column]

    plan = explain(large, "subquery", lambda: owner.get("orders/order/", **{f"{column}__exact": rare}))

    assert f"orders_by_{column}" in plan, plan


@pytest.mark.parametrize(("path", "name"), [("orders/order/", "q"), ("search/", "s")])
def test_search_looks_orders_up_by_their_ids(large, owner, path, name):
    query = {name: "shopper77@"}
    assert b"shopper77@example.com" in owner.get(path, **query).content

    plan = explain(large, 'FROM "orders" INNER JOIN "markets"', lambda: owner.get(path, **query))

    assert re.search(r"using orders_pkey on orders .*\n.*Index Cond: .*id = ANY", plan), plan
    assert {"orders_email_prefix", "customers_email_prefix", "orders_customer"} <= set(
        re.findall(r"\w+", plan)
    ), plan
    assert "Seq Scan on orders" not in plan, plan
    assert "Seq Scan on customers" not in plan, plan


def test_navigation_reads_no_failed_work_of_other_shops(shop, other_shop, owner):
    names = {"id": "t.id + 100 * i", "idempotency_key": "t.idempotency_key || i"}
    for place, status in ((shop, "succeeded"), (other_shop, "dead")):
        done = factories.make_dispatch(place, status=status, finished_at=timezone.now())
        with place.scope():
            copy(done, MANY, **names)
    analyze("outbox_dispatches")

    plan = explain(shop, "task_link", lambda: owner.get("customers/segment/"))

    # Emails, and other work.
    assert plan.count("using outbox_dispatches_failed on outbox_dispatches") == 2, plan
    assert plan.count(f"Index Cond: (account_id = {shop.id})") >= 2, plan


def test_emails_that_bounced_are_listed_by_an_index(shop, owner):
    sent = factories.make_delivery(shop)
    with shop.scope():
        copy(sent, MANY, id="t.id + i", idempotency_key="t.idempotency_key || i")
    analyze("email_deliveries")
    # The list to which the overview leads.
    query = {"bounced_at__isnull": "0", "sent_at_days": "30", "counted": "1"}

    plan = explain(
        shop, 'ORDER BY "email_deliveries"."id" DESC', lambda: owner.get("emails/emaildelivery/", **query)
    )

    assert "using email_deliveries_bounced on email_deliveries" in plan, plan


def test_checkouts_of_a_new_market_are_found_by_an_index(shop, owner):
    checkout_in("address", shop, (factories.make_variant(shop, stock=1), 1))
    with shop.scope():
        checkout = Checkout.objects.get()
        copy(checkout, MANY, id="t.id + i", token="t.token || i", phase="'abandoned'", completion_key="NULL")
    analyze("checkouts")
    market = {"handle": "new", "name": "New", "currency": "CZK", "locale": "cs-CZ", "country_code": "CZ"}
    market_id = shop.admin.post("markets.json", market).json()["market"]["id"]

    plan = explain(shop, "subquery", lambda: owner.get("checkouts/checkout/", market__id__exact=market_id))

    assert "using checkouts_market on checkouts" in plan, plan


def test_search_finds_each_spelling_and_the_beginning_of_every_field(large, owner):
    with large.scope():
        Customer.objects.filter(last_name="Name7").update(last_name="NAME8X")

    found = {
        text: owner.get("customers/customer/", q=text).context["cl"].result_count
        for text in ("name8x", "Name299", "x")
    }

    assert found == {"name8x": 1, "Name299": 11, "x": 0}
