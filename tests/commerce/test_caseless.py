"""Lookups that ignore case search an index, although the tables have policies."""

import pytest
from django.utils import timezone

from commerce.orders.models import Order
from commerce.orders.queries import orders
from discounts.in_force import find_rule_by_code, load_rules_on_trial
from discounts.models import Discount
from discounts.queries import discounts
from discounts.shoppers import load_history
from discounts.vouchers.queries import vouchers
from tests import factories
from tests.copies import analyze, copy
from tests.plans import plan_of
from tests.storefront import checkout_in


@pytest.fixture
def many(shop):
    """A shop with many orders, codes and gift cards, and the statistics that autovacuum would make."""
    checkout_in("completed", shop, (factories.make_variant(shop, stock=1), 1))
    discount = factories.make_discount(shop, code="WELCOME")
    voucher = factories.make_voucher(shop, recipient_email="ada@example.com")
    with shop.scope():
        copy(
            Order.objects.get(),
            2000,
            id="t.id + 1000 * i",
            number="t.number + i",
            token="gen_random_uuid()::text",
            email="'Shopper' || i || '@example.com'",
            checkout_id="t.checkout_id + 1000 * i",
        )
        copy(discount, 2000, id="t.id + 1000 * i", code="'Code' || i")
        copy(
            voucher,
            2000,
            id="t.id + 1000 * i",
            code="'CODE-' || i",
            recipient_email="'Friend' || i || '@example.com'",
        )
    analyze("orders", "discounts", "vouchers")
    return shop


def find_earlier_orders():
    history = load_history(
        [Discount(id=1, first_order_only=True)],
        customer_id=None,
        email="shopper7@example.com",
        checkout_id=None,
    )
    return ["Shopper7@example.com"] if history.has_ordered else []


LOOKUPS = [
    ("email_key", "Shopper7@example.com", lambda: [row.email for row in find_orders("SHOPPER7@example.com")]),
    ("email_key", "Shopper7@example.com", find_earlier_orders),
    ("code_key", "Code7", lambda: [find_rule_by_code("cODE7").code]),
    ("code_key", "Code7", lambda: [rule.code for rule in load_rules_on_trial(codes=["cODE7"]) if rule.code]),
    ("code_key", "Code7", lambda: [row.code for row in discounts(code="cODE7")]),
    ("recipient_email_key", "Friend7@example.com", lambda: [row.recipient_email for row in find_vouchers()]),
]


def find_orders(email):
    return orders(email=email).prefetch_related(None)


def find_vouchers():
    return vouchers(now=timezone.now(), recipient_email="fRIEND7@example.com")


@pytest.mark.django_db(transaction=True)
def test_lookups_find_by_an_index_on_the_text(many):
    for key, text, look_up in LOOKUPS:
        with many.scope():
            assert look_up() == [text]
            plan = plan_of(look_up)
        searched = [line for line in plan.splitlines() if "Index Cond" in line and f"{key} = " in line]
        assert len(searched) == 1, plan
