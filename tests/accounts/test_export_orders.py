"""export_orders: the orders of an account as CSV."""

import csv
from dataclasses import fields
from datetime import datetime
from io import StringIO
from operator import attrgetter

import orjson
import pytest
from django.core.management import CommandError, call_command

from accounts.management import exports
from accounts.models import Account
from commerce.orders.models import Order
from commerce.orders.snapshots import AutomaticDiscount, PickupPointSnapshot, ShippingSnapshot, VatSnapshot
from tests.metrics import failures_of
from tests.rows import make_row


def export(shop, *options):
    out = StringIO()
    call_command("export_orders", shop.handle, *options, stdout=out)
    return list(csv.DictReader(StringIO(out.getvalue())))


@pytest.fixture
def orders(shop):
    """Orders placed at the start of October and of November in Prague, where the shop is."""
    with shop.scope():
        Account.objects.filter(pk=shop.id).update(default_timezone="Europe/Prague")
        return [
            make_row(Order, number=number, email=f"{month}@example.com", placed_at=datetime.fromisoformat(at))
            for number, month, at in [
                (1001, "october", "2026-10-01T00:00:00+02:00"),
                (1002, "november", "2026-11-01T00:00:00+01:00"),
            ]
        ]


def test_export_has_every_order_of_the_account_oldest_first(shop, other_shop, orders):
    with other_shop.scope():
        make_row(Order)

    rows = export(shop)

    assert [row["number"] for row in rows] == ["1001", "1002"]
    assert (rows[0]["id"], rows[0]["email"]) == (str(orders[0].pk), "october@example.com")
    assert (rows[0]["status"], rows[0]["total_cents"], rows[0]["cancelled_at"]) == ("open", "0", "")
    assert "account_id" not in rows[0]


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (("--since", "2026-10-01"), ["1001", "1002"]),
        (("--since", "2026-10-01T00:00:01"), ["1002"]),
        (("--since", "2026-11-01", "--until", "2026-12-01"), ["1002"]),
        (("--until", "2026-11-01"), ["1001"]),
        (("--until", "2026-10-31T23:00:01Z"), ["1001", "1002"]),
        (("--until", "2026-10-01"), []),
    ],
)
def test_export_has_the_orders_of_a_time(shop, orders, options, numbers):
    assert [row["number"] for row in export(shop, *options)] == numbers


def test_export_of_an_account_without_orders_is_a_header(shop):
    assert export(shop) == []


def test_export_runs_no_formula_of_a_shopper(shop):
    with shop.scope():
        make_row(Order, customer_note='=HYPERLINK("https://example.com")')

    (row,) = export(shop)

    assert row["customer_note"] == '\'=HYPERLINK("https://example.com")'


def test_snapshots_are_exported_as_json(shop):
    point = {
        "id": 7,
        "carrier": "dhl",
        "external_id": "0042",
        "kind": "locker",
        "name": "Café Łódź",
        "address1": "Torstraße 1",
        "city": "Berlin",
        "zip": "10115",
        "country_code": "DE",
        "is_cod_supported": False,
    }
    vat = {
        "country_code": "CZ",
        "number": "12345678",
        "status": "valid",
        "name": None,
        "validated_at": "2026-10-01T08:00:00Z",
        "reverse_charge": True,
    }
    method = dict.fromkeys(map(attrgetter("name"), fields(ShippingSnapshot))) | {"id": 3, "price_cents": 490}
    discount = {"discount_id": 5, "title": "Spring", "type": "automatic_discount", "amount_cents": 100}
    with shop.scope():
        make_row(
            Order,
            pickup_point=PickupPointSnapshot(**point),
            vat=VatSnapshot(**vat | {"validated_at": datetime.fromisoformat("2026-10-01T10:00:00+02:00")}),
            shipping_method=ShippingSnapshot(**method),
            automatic_discounts=[AutomaticDiscount(**discount)],
        )

    (row,) = export(shop)

    assert orjson.loads(row["pickup_point"]) == point
    assert orjson.loads(row["vat"]) == vat
    assert orjson.loads(row["shipping_method"]) == method
    assert orjson.loads(row["automatic_discounts"]) == [discount]
    assert row["discount_codes"] == "[]"


@pytest.mark.parametrize("time", ["yesterday", "2026-13-01", ""])
def test_export_since_no_time_is_refused(shop, time):
    with pytest.raises(CommandError, match="ISO 8601"):
        export(shop, "--since", time)


def test_export_reads_page_by_page(shop, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(exports, "_PAGE", 2)
    with shop.scope():
        for number in range(5):
            make_row(Order, number=number)

    # Each scope opens and closes a savepoint and a setting: the account by handle, its time zone, three pages.
    with django_assert_num_queries(1 + 5 + 3 * 5):
        rows = export(shop)

    assert [row["number"] for row in rows] == ["0", "1", "2", "3", "4"]


def test_export_goes_on_past_an_order_that_can_not_be_written_and_says_so(shop, orders):
    """JSON may contain a number that the JSON writer can't serialize."""
    with shop.scope():
        Order.objects.filter(pk=orders[0].pk).update(utm={"visits": 2**70})
    out = StringIO()
    before = failures_of("export")

    with pytest.raises(
        CommandError, match=rf"^These rows failed and were left out \(the log says why\): {orders[0].pk}$"
    ):
        call_command("export_orders", shop.handle, stdout=out)

    assert [row["number"] for row in csv.DictReader(StringIO(out.getvalue()))] == ["1002"]
    assert failures_of("export") == before + 1
