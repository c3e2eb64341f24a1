"""Lists of large rows: a page ends early, so that no answer takes much memory."""

from uuid import uuid4

import pytest
import requests
from django.utils import timezone

from commerce import paging
from commerce.customers.models import Segment
from commerce.events.models import Event
from commerce.orders.models import Order, OrderLineItem
from commerce.paging import Cursor, newest_first
from tests import factories
from tests.storefront import checkout_in

KIB = 1024


def pages(client, path, name):
    """Read all pages of a list; return the ids of each."""
    found, cursor = [], ""
    while cursor is not None:
        answer = client.get(f"{path}limit=250{cursor}").json()
        found.append([row["id"] for row in answer[name]])
        assert answer["next_cursor_id"] in {None, found[-1][-1]}
        cursor = answer["next_cursor_id"] and f"&cursor_id={answer['next_cursor_id']}"
    return found


def texts(rows):
    return [str(row.pk) for row in rows]


@pytest.fixture
def make_order(shop):
    """Place an order; return a function that makes others like it with any number of lines. It returns their ids."""
    checkout = checkout_in("completed", shop, (factories.make_variant(shop), 1))

    def make(*, lines, engraving):
        with shop.scope():
            order = Order.objects.get(checkout_id=checkout["id"])
            (line,) = order.line_items.all()
            columns = {
                field.attname: getattr(line, field.attname)
                for field in line._meta.concrete_fields
                if field.name not in {"id", "order", "position", "custom_attributes"}
            }
            order.pk, order.token = None, uuid4().hex
            order.checkout_id = Order.objects.order_by("checkout_id").last().checkout_id + 1
            order.number = Order._meta.get_field("number").get_default()
            order.save(force_insert=True)
            OrderLineItem.objects.bulk_create(
                OrderLineItem(
                    **columns, order=order, position=position, custom_attributes={"engraving": engraving}
                )
                for position in range(1, lines + 1)
            )
        return str(order.pk)

    return make


@pytest.mark.django_db(transaction=True)
def test_pages_of_large_orders_are_bounded_while_orders_are_placed(shop, make_order, live_server):
    ids = [make_order(lines=120, engraving="x" * 3_500) for _ in range(20)]
    ids += [make_order(lines=500, engraving="") for _ in range(3)]
    sizes, shown, cursor = [], [], ""
    while cursor is not None:
        answer = requests.get(
            f"{live_server.url}{shop.admin.prefix}orders.json?limit=250{cursor}",
            headers=shop.admin.headers,
            timeout=60,
        )
        make_order(lines=1, engraving="")
        sizes.append(len(answer.content))
        shown += [order["id"] for order in answer.json()["orders"]]
        next_id = answer.json()["next_cursor_id"]
        cursor = next_id and f"&cursor_id={next_id}"

    # The last one is the order that the others were made from.
    assert shown[:-1] == list(reversed(ids))
    assert len(shown) == 24
    assert len(sizes) == 3
    assert max(sizes) <= paging.MAX_PAGE_BYTES
    assert min(sizes[:-1]) > paging.MAX_PAGE_BYTES * 3 // 4


@pytest.mark.parametrize("engraving", ["", "x" * 40 * KIB])
def test_orders_take_as_many_statements_whatever_their_size(
    shop, make_order, django_assert_num_queries, monkeypatch, engraving
):
    monkeypatch.setattr(paging, "MAX_PAGE_BYTES", 64 * KIB)
    for _ in range(3):
        make_order(lines=2, engraving=engraving)
    shop.admin.get("orders.json")

    with django_assert_num_queries(
        6
    ):  # savepoint, scope, the orders, their lines, savepoint, the scope's end
        shop.admin.get("orders.json")


def test_row_past_the_bound_has_a_page_of_its_own(shop, make_order, monkeypatch):
    monkeypatch.setattr(paging, "MAX_PAGE_BYTES", 16 * KIB)
    small, large, other = (make_order(lines=1, engraving="x" * size) for size in (10, 20 * KIB, 10))

    first, second, third = pages(shop.admin, "orders.json?", "orders")

    assert (first, second, third[:1], len(third)) == ([other], [large], [small], 2)


def make_segment(shop, text):
    with shop.scope():
        return Segment.objects.create(handle=uuid4().hex, name="A", filter={"text": text})


def make_event(shop, text):
    with shop.scope():
        return Event.objects.create(type="a.b", data={"text": text}, occurred_at=timezone.now())


def make_dispatch(shop, text):
    return factories.make_dispatch(shop, task_name="send_email", payload={"text": text})


def make_zone(shop, text):
    return factories.make_zone(shop, zip_patterns=[text[:16]] * (len(text) // 16))


@pytest.mark.parametrize(
    ("make", "path", "name"),
    [
        (make_segment, "segments.json?", "segments"),
        (make_event, "events.json?type=a.b&", "events"),
        (make_dispatch, "outbox_dispatches.json?task_name=send_email&", "outbox_dispatches"),
        (make_zone, "shipping/zones.json?", "zones"),
    ],
)
def test_long_columns_count(shop, monkeypatch, make, path, name):
    monkeypatch.setattr(paging, "MAX_PAGE_BYTES", 5 * KIB)
    ids = texts([make(shop, "x" * 2 * KIB) for _ in range(5)])
    if name != "events":
        ids.reverse()

    assert pages(shop.admin, path, name) == [ids[:2], ids[2:4], ids[4:]]


def test_columns_that_a_list_does_not_show_do_not_count(shop, monkeypatch):
    monkeypatch.setattr(paging, "MAX_PAGE_BYTES", 5 * KIB)
    ids = texts(reversed([factories.make_delivery(shop, html="x" * 4 * KIB) for _ in range(3)]))

    assert pages(shop.admin, "email/deliveries.json?", "email_deliveries") == [ids]


def make_priced_product(shop):
    """Make a product of ten variants that are listed, each with a price, and one that isn't."""
    product = factories.make_product(shop)
    for _ in range(10):
        factories.make_variant(shop, product=product, stock=None)
    factories.make_variant(shop, product=product, stock=None, archived_at=timezone.now())
    return product


def test_listed_variants_and_their_prices_count(shop, monkeypatch):
    ids = texts(reversed([make_priced_product(shop) for _ in range(4)]))
    # Of each variant: its title, 400 bytes, and 100 for its price.
    monkeypatch.setattr(paging, "MAX_PAGE_BYTES", 2 * 10 * 507)

    assert pages(shop.admin, "products.json?", "products") == [ids[:2], ids[2:]]
    assert pages(shop.storefront, "products.json?", "products") == [ids[:2], ids[2:]]
    # No prices are shown.
    monkeypatch.setattr(paging, "MAX_PAGE_BYTES", 4 * 10 * 407)
    assert pages(shop.storefront, "products.json?market_id=999999&", "products") == [ids]


def test_prices_of_variants_count(shop, monkeypatch):
    product = make_priced_product(shop)
    monkeypatch.setattr(paging, "MAX_PAGE_BYTES", 400)

    found = pages(shop.admin, f"products/{product.pk}/variants.json?", "variants")

    assert [len(page) for page in found] == [4, 4, 2]


def test_rates_of_methods_count(shop, monkeypatch):
    methods = [factories.make_method(shop) for _ in range(3)]
    for method in methods:
        for _ in range(2):
            factories.make_rate(shop, method=method)
    ids = texts(reversed(methods))
    monkeypatch.setattr(paging, "MAX_PAGE_BYTES", 5 * 500)

    assert pages(shop.admin, "shipping/methods.json?", "methods") == [ids[:2], ids[2:]]


def test_list_that_does_not_size_what_it_prefetches_is_refused(shop):
    with shop.scope(), pytest.raises(ValueError, match="needs their size"):
        newest_first(Order.objects.prefetch_related("line_items"), Cursor())
