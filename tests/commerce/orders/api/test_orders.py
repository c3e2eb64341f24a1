"""orders.json, orders/{id}.json and its actions; storefront orders/{token}.json."""

import pytest

from commerce.inventory.models import InventoryLevel
from tests import factories
from tests.storefront import EMAIL, checkout_in


@pytest.fixture
def order(shop):
    """An order of two of five units."""
    checkout = checkout_in("completed", shop, (factories.make_variant(shop, stock=5), 2))
    return shop.admin.get(f"orders/{checkout['order_id']}.json").json()["order"]


def stock(shop):
    with shop.scope():
        return InventoryLevel.objects.values_list("on_hand", "reserved", "committed").get()


def act(shop, order, action):
    return shop.admin.post(f"orders/{order['id']}/{action}.json")


def event_types(shop):
    return [event["type"] for event in shop.admin.get("events.json").json()["events"]]


def test_order_shows_what_was_bought(shop, order):
    assert (order["number"], order["email"], order["currency"]) == ("1001", EMAIL, "EUR")
    assert (order["status"], order["payment_status"], order["fulfillment_status"]) == (
        "open",
        "pending",
        "unfulfilled",
    )
    assert order["billing_address"] == order["shipping_address"]
    assert order["shipping_method"]["rate_id"]
    assert [line["quantity"] for line in order["line_items"]] == [2]


def test_order_is_shown_to_whoever_holds_its_token(shop, other_shop, order):
    assert shop.storefront.get(f"orders/{order['token']}.json").json()["order"] == order
    assert shop.storefront.get("orders/nothing.json").status_code == 404
    assert other_shop.storefront.get(f"orders/{order['token']}.json").status_code == 404


def test_cancelling_frees_the_stock_once(shop, order):
    first, second = act(shop, order, "cancel"), act(shop, order, "cancel")

    assert (first.status_code, first.json()["order"]["status"]) == (200, "cancelled")
    assert second.json() == first.json()
    assert stock(shop) == (5, 0, 0)
    assert event_types(shop).count("order.cancelled") == 1


def test_fulfilling_takes_the_units_out_once(shop, order):
    first, second = act(shop, order, "fulfill"), act(shop, order, "fulfill")

    assert (first.status_code, first.json()["order"]["fulfillment_status"]) == (200, "fulfilled")
    assert second.json() == first.json()
    assert stock(shop) == (3, 0, 0)
    assert event_types(shop).count("order.fulfilled") == 1


def test_money_is_noted_once(shop, order):
    first, second = act(shop, order, "mark_paid"), act(shop, order, "mark_paid")

    assert (first.status_code, first.json()["order"]["payment_status"]) == (200, "paid")
    assert second.json() == first.json()
    assert event_types(shop).count("order.paid") == 1


@pytest.mark.parametrize("action", ["mark_paid", "fulfill"])
def test_cancelled_order_changes_no_more(shop, order, action):
    cancelled = act(shop, order, "cancel").json()

    answer = act(shop, order, action)

    assert (answer.status_code, answer.json()["code"]) == (409, "order_not_open")
    assert shop.admin.get(f"orders/{order['id']}.json").json() == cancelled
    assert stock(shop) == (5, 0, 0)


def test_fulfilled_order_is_not_cancelled(shop, order):
    fulfilled = act(shop, order, "fulfill").json()

    answer = act(shop, order, "cancel")

    assert (answer.status_code, answer.json()["code"]) == (409, "order_not_open")
    assert shop.admin.get(f"orders/{order['id']}.json").json() == fulfilled
    assert stock(shop) == (3, 0, 0)


@pytest.mark.parametrize("action", ["cancel", "mark_paid", "fulfill"])
def test_orders_of_another_shop_are_not_found(shop, other_shop, order, action):
    assert act(other_shop, order, action).status_code == 404
    assert shop.admin.get(f"orders/{order['id']}.json").json()["order"] == order


@pytest.fixture
def two_orders(shop):
    variant, rate = factories.make_variant(shop), factories.make_rate(shop)
    checkouts = [checkout_in("completed", shop, (variant, 1), rate=rate) for _ in range(2)]
    first, second = (checkout["order_id"] for checkout in checkouts)
    shop.admin.post(f"orders/{first}/mark_paid.json")
    return first, second


def test_list_is_newest_first(shop, two_orders):
    found = shop.admin.get("orders.json").json()["orders"]

    assert [order["id"] for order in found] == list(reversed(two_orders))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("payment_status=paid", [0]),
        ("payment_status=pending", [1]),
        ("fulfillment_status=fulfilled", []),
        ("status=open", [1, 0]),
        ("number=1001", [0]),
        ("email=ADA@example.com", [1, 0]),
        ("email=somebody@example.com", []),
        ("customer_id=999999", []),
    ],
)
def test_list_is_filtered(shop, two_orders, query, expected):
    found = shop.admin.get(f"orders.json?{query}").json()["orders"]

    assert [order["id"] for order in found] == [two_orders[index] for index in expected]


@pytest.mark.parametrize("query", ["status=lost", "customer_id=x", "number=0"])
def test_bad_filter_is_refused(shop, query):
    assert shop.admin.get(f"orders.json?{query}").status_code == 422


@pytest.mark.parametrize("number", [1, 3])
def test_list_takes_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    variant, rate = factories.make_variant(shop), factories.make_rate(shop)
    for _ in range(number):
        checkout_in("completed", shop, (variant, 1), rate=rate)
    shop.admin.get("orders.json")

    # SET LOCAL, the orders, their lines; three more belong to the test's own transaction.
    with django_assert_num_queries(6):
        answer = shop.admin.get("orders.json")

    assert len(answer.json()["orders"]) == number
