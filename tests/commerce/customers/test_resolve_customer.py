"""The customer of an order: the given one, the one with the email, or a new guest."""

import pytest
from django.utils import timezone

from commerce.customers.models import Customer
from commerce.customers.operations import record_purchase, redact_customer
from tests.factories import make_customer
from tests.threads import run_threads


def resolve(shop, email, **fields):
    with shop.scope():
        return Customer.objects.get(pk=record_purchase(email=email, now=timezone.now(), **fields))


def customer_count(shop):
    with shop.scope():
        return Customer.objects.count()


def test_an_unknown_address_becomes_a_guest(shop):
    person = {
        "first_name": "Ada",
        "last_name": "Lovelace",
        "phone": "1",
        "locale": "en-GB",
        "country_code": "GB",
    }

    guest = resolve(shop, " Ada@Example.com ", **person)

    with shop.scope():
        row = Customer.objects.get()
    assert (row.pk, row.email, row.normalised_email) == (guest.pk, "Ada@Example.com", "ada@example.com")
    assert row.is_guest is True
    assert {name: getattr(row, name) for name in person} == person
    assert (row.tags, row.notification_preferences, row.orders_count) == ([], {}, 1)


def test_a_known_address_is_answered_as_it_is(shop):
    customer = make_customer(shop, email="ada@example.com", first_name="Ada")

    found = resolve(shop, "ADA@example.com", first_name="Mallory", phone="666")

    assert (found.pk, found.first_name, found.phone, found.is_guest) == (customer.pk, "Ada", "", False)
    assert found.orders_count == customer.orders_count + 1
    assert customer_count(shop) == 1


def test_the_customer_named_wins_over_the_address(shop):
    named = make_customer(shop)
    make_customer(shop, email="ada@example.com")

    found = resolve(shop, "ada@example.com", customer_id=named.pk)

    assert (found.pk, found.orders_count) == (named.pk, 1)


def test_a_redacted_customer_is_nobody_any_more(shop):
    redacted = make_customer(shop, email="ada@example.com")
    with shop.scope():
        redact_customer(customer_id=redacted.pk, now=timezone.now())

    guest = resolve(shop, "ada@example.com", customer_id=redacted.pk)

    assert (guest.pk != redacted.pk, guest.is_guest) == (True, True)


def test_an_address_of_another_shop_is_unknown(shop, other_shop):
    foreign = make_customer(other_shop, email="ada@example.com")

    guest = resolve(shop, "ada@example.com", customer_id=foreign.pk)

    assert (guest.pk != foreign.pk, guest.account_id) == (True, shop.id)


@pytest.mark.django_db(transaction=True)
def test_guests_who_complete_at_once_become_one_customer(shop):
    guests = run_threads(12, lambda index: resolve(shop, f"{'ADA' if index % 2 else 'ada'}@example.com").pk)

    assert len(set(guests)) == 1
    with shop.scope():
        assert [customer.orders_count for customer in Customer.objects.all()] == [12]


@pytest.mark.parametrize("named", [False, True])
def test_resolving_takes_one_statement(shop, django_assert_num_queries, named):
    customer = make_customer(shop)

    with shop.scope(), django_assert_num_queries(1):
        record_purchase(
            email="ada@example.com", customer_id=customer.pk if named else None, now=timezone.now()
        )
