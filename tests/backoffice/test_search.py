"""The search box of all pages."""

import pytest
from django.db import connection

from accounts.models import StaffMembership
from commerce.catalog.models import Product
from commerce.customers.models import Customer
from commerce.orders.models import Order
from discounts.models import Voucher
from emails.models import EmailDelivery
from tests import factories
from tests.rows import make_row

PATH = "search/"


def find(client, text):
    """Return kind, title and link of the findings that are rows."""
    page = client.get(PATH, s=text, part="1")
    assert page.status_code == 200
    found = [(str(one.kind), one.title, one.link) for one in page.context["findings"]]
    return [one for one in found if one[0] != "Page"]


@pytest.fixture
def rows(shop):
    """A row of each kind that the search finds."""
    with shop.scope():
        customer = make_row(
            Customer,
            email="Ann@Example.com",
            normalised_email="ann@example.com",
            first_name="Annika",
            last_name="Lee",
        )
        return {
            "Customer": customer,
            "Order": make_row(Order, number=4711, customer_id=customer.pk, email="office@example.org"),
            "Product": make_row(Product, title="Blue mug", handle="mug-blue"),
            "Gift card": make_row(Voucher, code="A1B2-C3D4-E5F6-G7H8", recipient_email="Gift@example.com"),
            "Email": make_row(EmailDelivery, to_email="reader@example.com", subject="Hello"),
        }


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("4711", ["Order"]),
        ("#4711", ["Order"]),
        (" 4711 ", ["Order"]),
        ("office@", ["Order"]),
        # The order's customer has this address, whatever was typed at the checkout.
        ("ANN@ex", ["Order", "Customer"]),
        ("annik", ["Customer"]),
        ("lee", ["Customer"]),
        ("blue", ["Product"]),
        ("mug-b", ["Product"]),
        ("a1b2c3d4 e5f6g7h8", ["Gift card"]),
        ("A1B2", ["Gift card"]),
        ("g7h8", ["Gift card"]),
        ("gift@", ["Gift card"]),
        ("reader@", ["Email"]),
        ("nobody", []),
        ("x", []),
        ("", []),
        ("\0", []),
        ("%%", []),
        ("__", []),
    ],
)
def test_rows_are_found_by_what_staff_know_of_them(rows, owner, text, kinds):
    found = find(owner, text)

    assert [kind for kind, _title, _link in found] == kinds
    for kind, title, link in found:
        assert title == str(rows[kind])
        assert owner.get(link.removeprefix("/backoffice/")).status_code == 200


def test_variant_and_its_product_are_found_by_sku(shop, owner):
    factories.make_variant(shop, sku="MUG-BLUE-1")

    assert [kind for kind, *_rest in find(owner, "mug-bl")] == ["Product", "Variant"]


def test_rows_of_another_shop_are_not_found(rows, other_shop, staff_of):
    stranger = staff_of(other_shop)

    assert [find(stranger, text) for text in ("4711", "ann@", "A1B2-C3D4-E5F6-G7H8", "reader@", "blue")] == [
        []
    ] * 5


def test_pages_and_tasks_are_found_by_name(shop, owner):
    found = owner.get(PATH, s="gift CARD", part="1").context["findings"]
    tasks = owner.get(PATH, s="to fulfil", part="1").context["findings"]

    assert [(one.title, one.link) for one in found] == [
        ("Gift cards", "/backoffice/discounts/voucher/"),
        ("Gift card ledger", "/backoffice/discounts/voucherredemption/"),
    ]
    assert [one.link for one in tasks] == ["/backoffice/orders/order/?work=fulfil"]


def test_pages_that_a_member_may_not_see_are_not_found(shop, owner, support):
    found = [client.get(PATH, s="api keys", part="1").context["findings"] for client in (owner, support)]

    assert [len(findings) for findings in found] == [1, 0]


def test_search_without_script_is_a_page(rows, owner):
    page = owner.get(PATH, s="4711")

    assert '<form method="get" role="search"' in page.content.decode()
    assert "#4711" in page.content.decode()


def test_search_needs_a_member_of_a_shop(shop, rows, owner):
    with shop.scope():
        StaffMembership.objects.all().delete()

    assert owner.get(PATH, s="4711").status_code == 302


def test_text_of_a_finding_is_escaped(shop, owner):
    with shop.scope():
        make_row(Product, title="Mug <script>alert(1)</script>")

    page = owner.get(PATH, s="mug", part="1").content.decode()

    assert "<script>" not in page
    assert "Mug &lt;script&gt;" in page


@pytest.mark.parametrize("text", ["nobody", "an", "4711"])
def test_search_takes_a_fixed_number_of_statements(shop, owner, text, django_assert_num_queries):
    owner.get(PATH, s=text, part="1")
    # Session, user, membership, the scope's four; one for each kind, and one more for emails.
    for more in (1, 3):
        with shop.scope():
            for number in range(more):
                email = f"an{more}{number}@example.com"
                make_row(Customer, email=email, normalised_email=email)
                make_row(Product, title=f"An {number}")
                make_row(EmailDelivery, to_email=email)
        with django_assert_num_queries(8 + 8):
            owner.get(PATH, s=text, part="1")


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("customers", "normalised_email"),
        ("customers", "first_name"),
        ("customers", "last_name"),
        ("orders", "email"),
        ("products", "title"),
        ("products", "handle"),
        ("variants", "sku"),
        ("vouchers", "code"),
        ("vouchers", "recipient_email"),
        ("discounts", "code"),
        ("discounts", "title"),
        ("email_deliveries", "to_email"),
        ("checkouts", "email"),
    ],
)
def test_searched_columns_have_an_index_for_beginnings(db, table, column):
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename = %s", [table])
        indexes = [definition for (definition,) in cursor.fetchall()]

    assert any(f"(account_id, {column} varchar_pattern_ops)" in definition for definition in indexes)


def test_operator_of_beginnings_is_leakproof(db):
    # Otherwise the policy of a table would be checked before it, on every row, and no index would be searched.
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT p.proleakproof, p.prosupport::text FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode "
            "WHERE o.oid = '^@(text,text)'::regoperator"
        )
        assert cursor.fetchall() == [(True, "text_starts_with_support")]
