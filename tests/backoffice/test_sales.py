"""Orders, checkouts and carts: looked at, and moved on by actions."""

import pytest

from commerce.orders.models import Order
from tests import factories
from tests.backoffice.clients import messages_of
from tests.storefront import cart_with, checkout_in


@pytest.fixture
def order(shop):
    checkout = checkout_in(
        "completed", shop, (factories.make_variant(shop, sku="MUG-1", price_cents=1990), 2)
    )
    with shop.scope():
        return Order.objects.get(pk=checkout["order_id"])


def path_of(order, view="change"):
    return f"orders/order/{order.pk}/{view}/"


def test_order_shows_lines_totals_and_addresses(order, owner):
    page = owner.get(path_of(order)).content.decode()

    for text in ("MUG-1", "€39.80", "€44.70", "Ada Lovelace", "10115 Berlin", "ada@example.com"):
        assert text in page


def test_text_of_a_shopper_is_shown_and_never_run(order, shop, owner):
    with shop.scope():
        Order.objects.update(
            customer_note="<script>alert(1)</script>",
            utm={"source": "<script>alert(2)</script>"},
            shipping_address=order.shipping_address | {"first_name": "<script>alert(3)</script>"},
        )

    page = owner.get(path_of(order)).content.decode()

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(3)" in page


def test_order_can_not_be_changed_by_form(order, shop, owner):
    answer = owner.post(path_of(order), {"total_cents": 1, "email": "eve@example.com"})

    assert answer.status_code == 403
    with shop.scope():
        assert Order.objects.get().email == "ada@example.com"


def test_order_is_paid_and_fulfilled(order, shop, owner):
    owner.confirm(path_of(order, "mark_paid"))
    owner.confirm(path_of(order, "fulfill"))

    with shop.scope():
        order.refresh_from_db()
    assert (order.payment_status, order.fulfillment_status) == ("paid", "fulfilled")


def test_cancelled_order_is_not_fulfilled(order, shop, owner):
    owner.confirm(path_of(order, "cancel"))

    answer = owner.confirm(path_of(order, "fulfill"))

    assert messages_of(answer)[-1] == "The order is cancelled."
    with shop.scope():
        order.refresh_from_db()
    assert (order.status, order.fulfillment_status) == ("cancelled", "unfulfilled")


def test_support_can_not_cancel(order, shop, support):
    answer = support.confirm(path_of(order, "cancel"))

    assert answer.status_code == 403
    with shop.scope():
        assert Order.objects.get().status == "open"


def test_checkout_shows_lines_totals_and_payments(shop, owner):
    checkout = checkout_in("ready", shop, (factories.make_variant(shop, sku="MUG-1", price_cents=1990), 2))

    page = owner.get(f"checkouts/checkout/{checkout['id']}/change/").content.decode()

    for text in ("MUG-1", "€39.80", "€44.70", "Ada Lovelace", "Succeeded"):
        assert text in page


def test_cart_shows_its_lines_and_their_number(shop, owner):
    token = cart_with(shop, (factories.make_variant(shop, sku="MUG-1"), 2), (factories.make_variant(shop), 3))

    (cart,) = owner.get("carts/cart/").context["cl"].result_list
    page = owner.get(f"carts/cart/{cart.pk}/change/").content.decode()

    assert (cart.token, cart.lines, cart.items) == (token, 2, 5)
    assert "MUG-1" in page


def test_overview_sums_up_the_shop(order, owner):
    page = owner.get()

    assert page.context["figures"] == [
        ("1 order in 30 days", "€44.70"),
        ("Orders to fulfil", "1"),
        ("Sold out", "0"),
        ("Failed dispatches", "0"),
    ]
    assert [row.pk for row in page.context["latest_orders"]] == [order.pk]
