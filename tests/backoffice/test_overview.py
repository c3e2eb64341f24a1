"""The overview: every number leads to a list with the same number, and days are the shop's."""

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection
from django.utils.html import strip_tags

from accounts.models import Account
from carts.models import Cart
from checkouts.models import Checkout
from commerce.backoffice.days import Period, parse_period
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.webhooks.models import WebhookEndpoint
from emails.models import EmailDelivery
from tests import factories
from tests.rows import make_row

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _noon():
    with time_machine.travel(NOW, tick=False):
        yield


def make_order(shop, *, days_ago=0, total_cents=1000, currency="EUR", **fields):
    """An order in the shop's market."""
    at = fields.pop("placed_at", NOW - timedelta(days=days_ago))
    totals = {
        "subtotal_with_tax_cents": total_cents,
        "total_cents": total_cents,
        "amount_due_cents": total_cents,
    }
    return make_row(
        Order,
        market_id=shop.market.pk,
        placed_at=at,
        currency=currency,
        prices_include_tax=True,
        **totals,
        **fields,
    )


def cancelled(**fields):
    return {"status": "cancelled", "cancelled_at": NOW} | fields


def make_checkout(phase):
    """A checkout of a cart that is too old to be counted."""
    with time_machine.travel(NOW - timedelta(days=365), tick=False):
        cart = make_row(Cart)
    return make_row(Checkout, cart_id=cart.pk, phase=phase)


def set_zone(shop, name):
    with shop.scope():
        Account.objects.filter(pk=shop.id).update(default_timezone=name)


def figures_of(page):
    return {figure.title: figure for figure in page.context["figures"]}


@pytest.fixture
def busy(shop):
    """A shop with some of everything that the overview counts, inside and outside the last 7 days."""
    paid = {"payment_status": "paid", "paid_at": NOW}
    with shop.scope():
        make_order(shop, total_cents=1000, **paid)
        make_order(shop, days_ago=1, total_cents=2500, payment_method="cod")
        make_order(shop, days_ago=2, total_cents=700, currency="CZK", payment_method="bank_transfer")
        make_order(shop, days_ago=2, **cancelled())
        make_order(shop, days_ago=3, **cancelled(**paid))
        make_order(shop, days_ago=8, total_cents=4000, payment_method="bank_transfer")
        fulfilled = {"fulfillment_status": "fulfilled", "fulfilled_at": NOW}
        refunded = {"payment_status": "refunded", "paid_at": NOW, "refunded_at": NOW}
        make_order(shop, days_ago=4, total_cents=600, status="closed", **fulfilled, **refunded)
        # A parcel that was paid on delivery: the money has to be recorded.
        make_order(shop, days_ago=5, total_cents=900, payment_method="cod", **fulfilled)
        for status in ("active", "converted", "converted"):
            make_row(Cart, status=status)
        for phase in ("address", "abandoned", "abandoned", "payment"):
            make_checkout(phase)
        with time_machine.travel(NOW - timedelta(days=9), tick=False):
            make_row(Cart, status="converted")
            make_checkout("abandoned")
        make_row(EmailDelivery, sent_at=NOW)
        make_row(EmailDelivery, sent_at=NOW, status="bounced", bounced_at=NOW)
        make_row(EmailDelivery, sent_at=NOW - timedelta(days=10))
        make_row(OutboxDispatch, status="dead", finished_at=NOW)
        make_row(OutboxDispatch, status="dead", finished_at=NOW, target={"task_name": "deliver_webhook"})
        make_row(WebhookEndpoint, status="disabled", disabled_reason="gone", paused_at=NOW)
    for on_hand in (0, 5, 6):
        factories.set_stock(shop, factories.make_variant(shop, stock=None), on_hand)
    return shop


def count_on(client, link):
    """Open a link of the overview and return the number that the list shows."""
    page = client.get(link.removeprefix("/backoffice/"))
    assert page.status_code == 200, link
    text = " ".join(strip_tags(page.content.decode()).split())
    changelist = page.context["cl"]
    name = (
        changelist.opts.verbose_name if changelist.result_count == 1 else changelist.opts.verbose_name_plural
    )
    assert f"{changelist.result_count} {name}" in text
    return changelist.result_count


@pytest.mark.parametrize("days", [1, 7, 30, 90])
def test_every_number_leads_to_a_list_with_the_same_number(busy, owner, days):
    page = owner.get(days=days)

    figures = page.context["figures"]
    rows = [*page.context["days"], *page.context["markets"]]
    assert {figure.title: count_on(owner, figure.link) for figure in figures} == {
        figure.title: figure.count for figure in figures
    }
    assert [count_on(owner, row.link) for row in rows] == [row.orders for row in rows]
    assert [count_on(owner, f"{one.task.link}&counted=1") for one in page.context["tasks"]] == [
        one.count for one in page.context["tasks"]
    ]
    links = re.findall(r'href="(/backoffice/[^"]*[?&;]counted=1)"', page.content.decode())
    assert len(links) == len(figures) + len(rows) + len(page.context["tasks"])


def test_sales_of_a_week_are_compared_with_the_week_before(busy, owner):
    page = owner.get(days=7)

    figures = figures_of(page)
    assert {title: (one.text, one.before) for title, one in figures.items()} == {
        "Orders": ("5", "1"),
        "Revenue in EUR": ("€50.00", "€40.00"),
        "Revenue in CZK": ("CZK7.00", "CZK0.00"),
        "Refunded of these": ("€6.00", "-"),
        "Carts created": ("3", "1"),
        "Carts that became orders": ("66.7 %", "100.0 %"),
        "Open checkouts": ("2", ""),
        "Abandoned checkouts": ("2", "1"),
        "Emails sent": ("2", "1"),
        "Emails that bounced": ("1", "0"),
    }
    assert figures["Revenue in EUR"].note == "Average order €12.50, before €40.00"
    assert {str(one.task.title): one.count for one in page.context["tasks"]} == {
        "Orders to fulfil": 2,
        "Payments to check": 3,
        "Orders to refund": 1,
        "Stock running low": 2,
        "Emails that failed": 1,
        "Other work that failed": 1,
        "Disabled webhooks": 1,
    }


def test_chart_can_be_read_as_a_table(busy, owner):
    page = owner.get(days=7)

    assert [(row.title, row.orders, row.revenue) for row in page.context["days"]] == [
        ("22 Nov 2026", 1, "€10.00"),
        ("21 Nov 2026", 1, "€25.00"),
        ("20 Nov 2026", 1, "CZK7.00"),
        ("19 Nov 2026", 0, "-"),
        ("18 Nov 2026", 1, "€6.00"),
        ("17 Nov 2026", 1, "€9.00"),
        ("16 Nov 2026", 0, "-"),
    ]
    orders = page.context["charts"][0]
    assert (orders.total, orders.peak, len(orders.bars), len(orders.shadows)) == ("5", "1", 5, 1)
    assert [bar.title for bar in orders.bars][:2] == ["17 Nov 2026: 1", "18 Nov 2026: 1"]


def test_days_are_those_of_the_shops_time_zone(shop, owner):
    set_zone(shop, "Pacific/Auckland")
    zone = ZoneInfo("Pacific/Auckland")
    with shop.scope():
        # It is the 23rd in Auckland. This order is from its first minute, and this one from the last of the 22nd.
        make_order(shop, placed_at=datetime(2026, 11, 23, 0, 0, tzinfo=zone))
        make_order(shop, placed_at=datetime(2026, 11, 22, 23, 59, tzinfo=zone))

    page = owner.get(days=1)

    assert [(row.title, row.orders) for row in page.context["days"]] == [("23 Nov 2026", 1)]
    assert figures_of(page)["Orders"].before == "1"
    assert count_on(owner, page.context["days"][0].link) == 1


def test_day_on_which_clocks_change_has_all_its_hours(shop, owner):
    set_zone(shop, "Europe/Berlin")
    zone = ZoneInfo("Europe/Berlin")
    with shop.scope():
        # On 25 October 2026 the hour from 2:00 comes twice.
        for at in (datetime(2026, 10, 25, 0, 0, tzinfo=zone), datetime(2026, 10, 25, 23, 59, tzinfo=zone)):
            make_order(shop, placed_at=at)
        make_order(shop, placed_at=datetime(2026, 10, 26, 0, 0, tzinfo=zone))

    rows = {row.title: row.orders for row in owner.get(days=30).context["days"]}

    assert (rows["25 Oct 2026"], rows["26 Oct 2026"]) == (2, 1)


def test_overview_of_another_shop_counts_none_of_this_one(busy, other_shop, staff_of):
    page = staff_of(other_shop).get(days=90)

    assert {figure.count for figure in page.context["figures"]} == {0}
    assert {one.count for one in page.context["tasks"]} == {0}
    assert not list(page.context["latest_orders"])


def test_unknown_number_of_days_shows_thirty(shop, owner):
    page = owner.get(days="1000000")

    assert len(page.context["days"]) == 30


def test_navigation_counts_what_waits(busy, owner):
    (today, *_rest) = owner.get().context["sidebar_navigation"]

    assert {str(item["title"]): item.get("badge") for item in today["items"]} == {
        "Overview": None,
        "Orders to fulfil": "2",
        "Payments to check": "3",
        "Orders to refund": "1",
        # All levels are read to find these, so they are counted on the overview alone.
        "Stock running low": None,
        "Emails that failed": "1",
        "Other work that failed": "1",
        "Disabled webhooks": "1",
    }


def test_navigation_stops_counting_at_a_hundred(shop, owner):
    with shop.scope():
        for _ in range(101):
            make_order(shop, payment_status="paid", paid_at=NOW)

    (today, *_rest) = owner.get("catalog/product/").context["sidebar_navigation"]

    assert [item.get("badge") for item in today["items"]][1] == "99+"


def test_statements_of_pages_are_planned_for_the_shop_that_is_shown(owner):
    """Otherwise a frequent one gets a plan for any shop, which reads all rows if one shop has nearly all of them."""
    prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"

    for _ in range(5):
        assert owner.get("").status_code == 200

    with connection.cursor() as cursor:
        cursor.execute(prepared, ["%task_link%"])
        assert cursor.fetchone() == (0,)
        # What isn't part of a page is prepared once it is frequent: by now, this statement itself.
        for _ in range(4):
            cursor.execute(prepared, ["%pg_prepared_statements%"])
        assert cursor.fetchone() == (1,)


def test_orders_to_fulfil_are_the_current_page_of_the_navigation(busy, owner):
    page = owner.get("orders/order/", work="fulfil")

    items = [item for group in page.context["sidebar_navigation"] for item in group["items"]]
    assert [str(item["title"]) for item in items if item["active"]] == ["Orders to fulfil"]


def test_stock_that_is_low_or_gone_is_listed(busy, owner):
    low = owner.get("inventory/inventorylevel/", stock="low").context["cl"].result_list
    out = owner.get("inventory/inventorylevel/", stock="out").context["cl"].result_list

    assert sorted(level.on_hand for level in low) == [0, 5]
    assert [level.on_hand for level in out] == [0]
    with busy.scope():
        assert InventoryLevel.objects.count() == 3


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("7", Period(date(2026, 11, 16), date(2026, 11, 22))),
        ("2026-11-01", Period(date(2026, 11, 1), date(2026, 11, 1))),
        ("2026-11-01..2026-11-03", Period(date(2026, 11, 1), date(2026, 11, 3))),
        *(
            (text, None)
            for text in ("8", "", "x", "2026-11-03..2026-11-01", "0001-01-01", "2026-02-30", "-1")
        ),
        ("1990-01-01..2026-01-01", None),
    ],
)
def test_period_is_read_from_text(text, period):
    assert parse_period(text, today=NOW.date()) == period
    if period is not None:
        assert parse_period(str(period), today=NOW.date()) == period


@pytest.mark.parametrize("value", ["x", "2026-13-01", "9" * 30, "\0", "0000-00-00..9999-99-99"])
def test_list_refuses_text_that_is_no_period(shop, owner, value):
    answer = owner.get("orders/order/", placed_at_days=value)

    assert (answer.status_code, answer["Location"]) == (302, "/backoffice/orders/order/?e=1")


@pytest.mark.parametrize(
    "path", ["orders/order/?work=x", "checkouts/checkout/?progress=x", "outbox/outboxdispatch/?failed=x"]
)
def test_list_refuses_a_condition_that_it_does_not_offer(shop, owner, path):
    answer = owner.get(path)

    assert answer.status_code == 302
