"""The CSV export of rows."""

import csv

import orjson
from django.contrib.messages import get_messages
from django.db import connection

from checkouts.models import Checkout
from commerce.backoffice import export
from tests import factories
from tests.storefront import checkout_in


def test_export_has_plain_values_and_no_formulas(shop, owner):
    customer = factories.make_customer(shop, first_name="=1+1", tags=["a", "b"])

    answer = owner.act("customers/customer/", "export_as_csv", customer.pk)

    (row,) = csv.DictReader(answer.content.decode().splitlines())
    assert (row["id"], row["email"]) == (str(customer.pk), customer.email)
    assert (row["first_name"], row["orders_count"], row["redacted_at"]) == ("'=1+1", "0", "")
    assert orjson.loads(row["tags"]) == ["a", "b"]
    assert "account_id" not in row


def test_export_takes_one_statement_for_any_number_of_rows(shop, owner, django_assert_num_queries):
    # The first request notes when the session was used last.
    owner.get("emails/emaildelivery/")
    for more in (1, 2):
        deliveries = [factories.make_delivery(shop).pk for _ in range(more)]
        # Session, user, membership; five savepoints and settings; the count of the list, the size of the rows,
        # and the rows.
        with django_assert_num_queries(13):
            owner.act("emails/emaildelivery/", "export_as_csv", *deliveries)


def test_export_is_planned_for_the_rows_that_were_chosen(shop, owner):
    customer = factories.make_customer(shop)

    for _ in range(5):
        answer = owner.act("customers/customer/", "export_as_csv", customer.pk)
        assert answer["Content-Type"].startswith("text/csv")

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%FROM \"customers\"%'"
        )
        assert cursor.fetchall() == []


def test_export_of_rows_that_are_too_large_is_refused(shop, owner, monkeypatch):
    # The text of a delivery has 9 bytes, its `ctx` 18.
    deliveries = [factories.make_delivery(shop, html="x" * 10_000, subject="") for _ in range(2)]
    monkeypatch.setattr(export, "MAX_EXPORT_BYTES", 2 * (500 + 10_000 + 9 + 18))
    ids = [delivery.pk for delivery in deliveries]
    fitting = owner.act("emails/emaildelivery/", "export_as_csv", *ids)
    assert len(list(csv.DictReader(fitting.content.decode().splitlines()))) == 2

    monkeypatch.setattr(export, "MAX_EXPORT_BYTES", 2 * (500 + 10_000 + 9 + 18) - 1)
    refused = owner.act("emails/emaildelivery/", "export_as_csv", *ids)

    assert refused.status_code == 302
    assert [str(message) for message in get_messages(refused.wsgi_request)] == [
        "The rows have more than 0 MiB together. Select fewer, with the filters."
    ]


def test_export_of_too_many_rows_is_refused(shop, owner, monkeypatch):
    ids = [factories.make_zone(shop).pk for _ in range(3)]
    monkeypatch.setattr(export, "MAX_EXPORT_BYTES", 1200)

    assert owner.act("shipping/shippingzone/", "export_as_csv", *ids).status_code == 302
    assert owner.act("shipping/shippingzone/", "export_as_csv", ids[0]).status_code == 200


def test_exported_and_shown_snapshots_of_a_sale_are_json(shop, owner):
    sold = checkout_in("completed", shop, (factories.make_variant(shop, stock=5), 1))
    with shop.scope():
        checkout = Checkout.objects.get(token=sold["token"])

    for page, row_id in (("orders/order", int(sold["order_id"])), ("checkouts/checkout", checkout.pk)):
        answer = owner.act(f"{page}/", "export_as_csv", row_id)
        (row,) = csv.DictReader(answer.content.decode().splitlines())
        assert orjson.loads(row["shipping_method"])["id"] == checkout.shipping_method_id
        assert "Snapshot(" not in answer.content.decode()
        assert "Snapshot(" not in owner.get(f"{page}/{row_id}/change/").content.decode()
