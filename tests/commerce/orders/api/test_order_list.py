"""orders.json: filters, pages, and the orders of one customer."""

import pytest

from tests import factories
from tests.commerce.orders.api.placing import get_order
from tests.commerce.orders.api.test_orders import act
from tests.storefront import checkout_in


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
        ("market_id=999999", []),
        ("checkout_id=999999", []),
        ("placed_at_min=2020-01-01T00:00:00Z", [1, 0]),
        ("placed_at_max=2020-01-01T00:00:00Z", []),
        ("placed_at_min=2020-01-01T00:00:00Z&placed_at_max=2020-02-01T00:00:00Z", []),
    ],
)
def test_list_is_filtered(shop, two_orders, query, expected):
    found = shop.admin.get(f"orders.json?{query}").json()["orders"]

    assert [order["id"] for order in found] == [two_orders[index] for index in expected]


def test_both_ends_of_the_time_of_placing_are_included(shop, two_orders):
    placed_at = get_order(shop, two_orders[0])["placed_at"]

    found = shop.admin.get(f"orders.json?placed_at_min={placed_at}&placed_at_max={placed_at}").json()

    assert [order["id"] for order in found["orders"]] == [two_orders[0]]


def test_list_of_one_customer_leaves_out_others(shop, two_orders):
    customer_id = get_order(shop, two_orders[0])["customer_id"]

    found = shop.admin.get(f"orders.json?customer_id={customer_id}&limit=1").json()

    assert [order["id"] for order in found["orders"]] == [two_orders[1]]
    assert found["next_cursor_id"] == two_orders[1]


@pytest.mark.parametrize(
    "query",
    ["status=lost", "customer_id=x", "number=0", "placed_at_min=2026-11-20", "placed_at_max=yesterday"],
)
def test_bad_filter_is_refused(shop, query):
    assert shop.admin.get(f"orders.json?{query}").status_code == 422


@pytest.mark.parametrize("number", [1, 3])
def test_list_takes_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    variant, rate = factories.make_variant(shop), factories.make_rate(shop)
    for _ in range(number):
        checkout_in("completed", shop, (variant, 1), rate=rate)
    shop.admin.get("orders.json")

    # SET LOCAL, the orders, their lines; the test's transaction adds three.
    with django_assert_num_queries(6):
        answer = shop.admin.get("orders.json")

    assert len(answer.json()["orders"]) == number
