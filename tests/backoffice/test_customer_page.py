"""A customer's page shows the orders, addresses, emails and gift cards, and what happened when."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.orders.models import Order
from discounts.models import Voucher
from emails.models import EmailDelivery
from tests import factories
from tests.rows import make_row


def page_of(customer):
    return f"customers/customer/{customer.pk}/change/"


@pytest.fixture
def customer(shop):
    """A customer with two orders to one address, an email and a gift card."""
    ann = factories.make_customer(shop, email="Ann@example.com")
    address = {"first_name": "Ann", "last_name": "Lee", "city": "Berlin"}
    with shop.scope():
        for number in (1001, 1002):
            make_row(
                Order,
                number=number,
                customer_id=ann.pk,
                shipping_address=address,
                placed_at=timezone.now() - timedelta(days=2000 - number),
                prices_include_tax=True,
                subtotal_with_tax_cents=1990,
                total_cents=1990,
                amount_due_cents=1990,
                currency="EUR",
            )
        make_row(EmailDelivery, customer_id=ann.pk, subject="Thank you", sent_at=timezone.now())
        make_row(Voucher, recipient_email="ann@example.com", code="A1B2-C3D4-E5F6-G7H8", currency="EUR")
        make_row(Order, number=1003, email="bob@example.com", customer_id=factories.make_customer(shop).pk)
    return ann


def test_page_shows_what_belongs_to_the_customer(customer, support):
    page = support.get(page_of(customer))

    titles = {section.title: [row.title for row in section.rows] for section in page.context["sections"]}
    assert titles == {
        "Orders": ["#1002", "#1001"],
        "Addresses": ["#1002"],
        "Emails": ["Thank you"],
        "Gift cards": ["A1B2-C3D4-E5F6-G7H8"],
    }
    text = page.content.decode()
    assert "Ann Lee<br>Berlin" in text
    assert "€39.80" in text


def test_links_lead_to_the_rows_and_to_all_of_them(customer, support):
    page = support.get(page_of(customer))

    rows = [row for section in page.context["sections"] for row in section.rows]
    assert {support.browser.get(row.link).status_code for row in rows} == {200}
    lists = {section.title: section.link for section in page.context["sections"] if section.link}
    assert {title: support.browser.get(link).context["cl"].result_count for title, link in lists.items()} == {
        "Orders": 2,
        "Emails": 1,
        "Gift cards": 1,
    }


def test_timeline_begins_with_the_latest(customer, owner):
    owner.fill(page_of(customer), phone="+49 30 1")

    entries = owner.get(page_of(customer)).context["entries"]

    assert [entry.at for entry in entries] == sorted((entry.at for entry in entries), reverse=True)
    assert sorted(entry.title for entry in entries) == [
        f"By {owner.user.username}",
        "Created",
        "Email sent",
        "Gift card issued",
        "Order #1001",
        "Order #1002",
    ]


def test_page_of_an_erased_customer_shows_orders_and_no_gift_cards(customer, owner):
    owner.confirm(f"customers/customer/{customer.pk}/redact/")

    sections = {section.title: section.rows for section in owner.get(page_of(customer)).context["sections"]}

    assert len(sections["Orders"]) == 2
    assert sections["Gift cards"] == []


def test_page_takes_a_fixed_number_of_statements(shop, customer, support, django_assert_num_queries):
    support.get(page_of(customer))

    for more in (1, 3):
        with shop.scope():
            for _ in range(more):
                make_row(Order, customer_id=customer.pk)
                make_row(EmailDelivery, customer_id=customer.pk)
                make_row(Voucher, recipient_email="ann@example.com")
        # Session, user, membership, the scope's four and the tasks; the customer and what was spent; orders, addresses,
        # emails, gift cards and the log.
        with django_assert_num_queries(9 + 7):
            support.get(page_of(customer))


def test_form_to_add_a_customer_has_no_sections(owner):
    page = owner.get("customers/customer/add/")

    assert "sections" not in page.context
