"""Pages of orders, checkouts and carts, and the actions on them."""

import pytest
from django.utils import timezone

from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from emails.models import EmailDelivery
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


def timeline(page):
    """Return title and detail of each row of the timeline."""
    return [(entry.title, entry.detail) for entry in page.context["entries"]]


def test_order_is_paid_and_fulfilled(order, shop, owner):
    owner.confirm(path_of(order, "mark_paid"))
    owner.confirm(
        path_of(order, "fulfill"),
        carrier="DHL",
        tracking_number="JD0146",
        tracking_url="https://track.example.com/JD0146",
    )

    with shop.scope():
        order.refresh_from_db()
        assert OutboxDispatch.objects.filter(payload__template_key="order.shipped").count() == 1
    assert (order.status, order.payment_status, order.fulfillment_status) == ("closed", "paid", "fulfilled")
    assert (order.carrier, order.tracking_number) == ("DHL", "JD0146")
    assert order.tracking_url == "https://track.example.com/JD0146"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "track.example.com", "https://a.example/" + "x" * 2048]
)
def test_parcel_with_a_bad_address_is_not_sent(order, shop, owner, url):
    answer = owner.confirm(path_of(order, "fulfill"), tracking_url=url)

    assert "tracking_url" in answer.content.decode()
    with shop.scope():
        assert Order.objects.get().fulfillment_status == "unfulfilled"


def test_cancelled_order_is_not_fulfilled(order, shop, owner):
    owner.confirm(path_of(order, "cancel"), reason="Changed her mind")

    answer = owner.confirm(path_of(order, "fulfill"))

    assert messages_of(answer)[-1] == "The order is cancelled."
    with shop.scope():
        order.refresh_from_db()
    assert (order.status, order.fulfillment_status) == ("cancelled", "unfulfilled")
    assert order.cancel_reason == "Changed her mind"


def test_returned_order_is_refunded(order, shop, owner):
    early = owner.confirm(path_of(order, "mark_refunded"))
    owner.confirm(path_of(order, "mark_paid"))
    open_still = owner.confirm(path_of(order, "mark_refunded"))
    owner.confirm(path_of(order, "fulfill"))
    owner.confirm(path_of(order, "mark_refunded"))

    assert messages_of(early)[-1] == "The order has not been paid."
    assert messages_of(open_still)[-1] == "Cancel the order first."
    with shop.scope():
        order.refresh_from_db()
    assert (order.status, order.payment_status) == ("closed", "refunded")


def test_timeline_tells_all_that_happened_in_its_order(order, shop, owner):
    owner.confirm(path_of(order, "mark_paid"))
    delivery = factories.make_delivery(
        shop,
        template_key="order.confirmation",
        to_email=order.email,
        reference_type="order",
        reference_id=order.pk,
    )
    with shop.scope():
        EmailDelivery.objects.update(opened_at=timezone.now())
    owner.confirm(path_of(order, "cancel"), reason="<b>Changed</b> her mind")

    page = owner.get(path_of(order))

    by = f"By {owner.user.username}"
    assert timeline(page) == [
        ("Payment started", "€44.70 by cod"),
        ("Payment: Succeeded", "€44.70 by cod"),
        ("Placed", "ada@example.com"),
        ("Paid", ""),
        (by, "The order is paid."),
        ("Email sent", "order.confirmation to ada@example.com"),
        ("Email opened", "order.confirmation to ada@example.com"),
        ("Cancelled", "<b>Changed</b> her mind"),
        ("Refunded", ""),
        (by, "The order is cancelled."),
    ]
    html = page.content.decode()
    assert f'<a href="/backoffice/emails/emaildelivery/{delivery.pk}/change/">Email opened</a>' in html
    assert "&lt;b&gt;Changed&lt;/b&gt; her mind" in html


def test_timeline_takes_a_fixed_number_of_statements(order, shop, owner, django_assert_num_queries):
    owner.get(path_of(order))
    about = {"reference_type": "order", "reference_id": order.pk}

    for _ in range(2):
        factories.make_delivery(shop, **about)
        owner.confirm(path_of(order, "mark_paid"))
        # Session, user, membership, the scope's four; the order, its lines, customer and market; staff
        # actions, payments and emails; the tasks of the sidebar.
        with django_assert_num_queries(16):
            owner.get(path_of(order))


def test_timeline_leaves_out_what_is_of_others(order, shop, owner):
    factories.make_delivery(shop, reference_type="voucher", reference_id=order.pk)
    factories.make_delivery(shop, reference_type="order", reference_id=order.pk + 1)

    assert not [title for title, _ in timeline(owner.get(path_of(order))) if title.startswith("Email")]


@pytest.mark.parametrize("action", ["mark_paid", "fulfill", "mark_refunded", "cancel"])
def test_support_reads_orders_and_changes_none(order, shop, support, action):
    page = support.get(path_of(order))
    answers = [support.get(path_of(order, action)), support.confirm(path_of(order, action))]

    assert timeline(page)[-1] == ("Placed", "ada@example.com")
    assert f"/{action}/" not in page.content.decode()
    assert [answer.status_code for answer in answers] == [403, 403]
    with shop.scope():
        assert Order.objects.get().updated_at == order.updated_at


@pytest.mark.parametrize("term", ["1001", "#1001", "ADA@example", "ada@example.com"])
def test_order_is_found_by_number_and_email(order, shop, owner, term):
    found = owner.get("orders/order/", q=term).context["cl"].result_list

    assert [row.pk for row in found] == [order.pk]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ({"status__exact": "open"}, 1),
        ({"payment_status__exact": "paid"}, 0),
        ({"fulfillment_status__exact": "fulfilled"}, 0),
    ],
)
def test_orders_are_filtered(order, owner, query, number):
    assert owner.get("orders/order/", **query).context["cl"].result_count == number


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

    figures = {figure.title: figure.text for figure in page.context["figures"]}
    assert (figures["Orders"], figures["Revenue in EUR"]) == ("1", "€44.70")
    assert [row.pk for row in page.context["latest_orders"]] == [order.pk]
