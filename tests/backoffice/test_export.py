"""The CSV export of rows."""

import csv

import orjson

from checkouts.models import Checkout
from tests import factories
from tests.storefront import checkout_in


def test_export_has_plain_values_and_no_formulas(shop, owner):
    customer = factories.make_customer(shop, first_name="=1+1", tags=["a", "b"], total_spent_cents=-5)

    answer = owner.act("customers/customer/", "export_as_csv", customer.pk)

    (row,) = csv.DictReader(answer.content.decode().splitlines())
    assert (row["id"], row["email"]) == (str(customer.pk), customer.email)
    assert (row["first_name"], row["total_spent_cents"], row["redacted_at"]) == ("'=1+1", "-5", "")
    assert orjson.loads(row["tags"]) == ["a", "b"]
    assert "account_id" not in row


def test_export_takes_one_statement_for_any_number_of_rows(shop, owner, django_assert_num_queries):
    for more in (1, 2):
        deliveries = [factories.make_delivery(shop).pk for _ in range(more)]
        # Session, user, membership; five savepoints and settings; the count of the list, and the rows.
        with django_assert_num_queries(11):
            owner.act("emails/emaildelivery/", "export_as_csv", *deliveries)


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
