"""Membership of segments."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from commerce.customers.models import Customer, Segment
from commerce.customers.operations import redact_customer
from commerce.customers.queries import get_customer
from commerce.customers.segments import matches
from tests.commerce.refusals import refused_constraint
from tests.factories import make_customer


@pytest.fixture
def ada(shop):
    """A customer with two tags and five orders, created at noon."""
    customer = make_customer(
        shop,
        email="Ada@Example.com",
        tags=["vip", "press"],
        country_code="GB",
        orders_count=5,
    )
    # As `with_spending` sums it.
    customer.total_spent_cents = 10_000
    customer.created_at = datetime(2026, 11, 20, 12, tzinfo=UTC)
    return customer


@pytest.mark.parametrize(
    ("field", "op", "value", "expected"),
    [
        ("tag", "eq", "vip", True),
        ("tag", "eq", "VIP", False),
        ("tag", "neq", "vip", False),
        ("tag", "neq", "staff", True),
        ("tag", "in", ["staff", "press"], True),
        ("tag", "in", ["staff"], False),
        ("email_domain", "eq", "example.com", True),
        ("email_domain", "eq", "ample.com", False),
        ("country_code", "in", ["DE", "GB"], True),
        ("country_code", "neq", "GB", False),
        ("orders_count", "eq", 5, True),
        ("orders_count", "gte", 5, True),
        ("orders_count", "gte", 6, False),
        ("orders_count", "lte", 4, False),
        ("total_spent_cents", "lte", 10_000, True),
        ("total_spent_cents", "gte", 9_999, True),
        ("created_at", "gte", "2026-11-20T12:00:00Z", True),
        ("created_at", "gte", "2026-11-20T12:00:00.000001Z", False),
        ("created_at", "lte", "2026-11-20T11:59:59.999999Z", False),
        ("created_at", "lte", "2026-11-20T12:00:00.500000Z", True),
        ("created_at", "in", ["2026-11-20T11:00:00Z", "2026-11-20T12:00:00Z"], True),
    ],
)
def test_condition(ada, field, op, value, expected):
    assert matches({"all": [{"field": field, "op": op, "value": value}]}, ada) is expected


def test_every_condition_must_hold(ada):
    vip = {"field": "tag", "op": "eq", "value": "vip"}
    german = {"field": "country_code", "op": "eq", "value": "DE"}

    assert matches({"all": [vip]}, ada) is True
    assert matches({"all": [vip, german]}, ada) is False


def test_an_empty_filter_takes_everybody(ada):
    assert matches({"all": []}, ada) is True


def test_what_is_unknown_equals_nothing(shop, ada):
    with shop.scope():
        redact_customer(customer_id=ada.pk, now=timezone.now())
        redacted = get_customer(ada.pk)

    for field, value in (("email_domain", "example.com"), ("country_code", "GB"), ("tag", "vip")):
        assert matches({"all": [{"field": field, "op": "eq", "value": value}]}, redacted) is False
        assert matches({"all": [{"field": field, "op": "in", "value": [value]}]}, redacted) is False
        assert matches({"all": [{"field": field, "op": "neq", "value": value}]}, redacted) is True


def test_a_segment_handle_is_unique_in_its_account(shop):
    with shop.scope():
        Segment.objects.create(handle="vips", name="VIPs")
        again = Segment.objects.create
        assert refused_constraint(lambda: again(handle="vips", name="x")) == "segments_handle"


def test_an_email_is_of_one_customer(shop):
    make_customer(shop, email="ada@example.com")

    assert refused_constraint(lambda: make_customer(shop, email="ADA@example.com")) == "customers_email"


def test_a_redacted_customer_has_no_email(shop):
    make_customer(shop)

    with shop.scope():
        redact = Customer.objects.update
        constraint = refused_constraint(lambda: redact(redacted_at=timezone.now()))

    assert constraint == "customers_redacted_without_email"
