"""Steps that an app of its own registers for what the product does: they may lock rows of the app's table."""

import pytest

from accounts import archiving
from carts import merging
from commerce.orders import cancellation
from commerce.tenancy.locks import held_locks, lock
from emails.models import EmailDelivery
from tests import factories
from tests.storefront import cart_with, checkout_in, enter_checkout

pytestmark = pytest.mark.django_db


@pytest.fixture
def locked():
    """The rows that the step has locked, and what had been locked before."""
    return []


@pytest.fixture
def lock_own_rows(locked):
    """A step. Any table that `Resource` doesn't list stands for the app's own."""

    def step(occasion):
        before = held_locks()
        locked.append((before, [row.pk for row in lock(EmailDelivery.objects.order_by("pk"))]))

    return step


@pytest.fixture
def row(shop):
    return factories.make_delivery(shop)


def test_step_of_a_cancellation_locks_its_own_rows(shop, row, locked, lock_own_rows, monkeypatch):
    monkeypatch.setattr(cancellation, "_steps", [lock_own_rows])
    order_id = checkout_in("completed", shop, (factories.make_variant(shop, stock=5), 1))["order_id"]

    answer = shop.admin.post(f"orders/{order_id}/cancel.json", {})

    assert (answer.status_code, answer.json()["order"]["status"]) == (200, "cancelled")
    assert locked == [
        (["orders", "customers", "discounts", "vouchers", "inventory_levels"], [row.pk]),
    ]


def test_step_of_a_merge_locks_its_own_rows(shop, row, locked, lock_own_rows, monkeypatch):
    monkeypatch.setattr(merging, "_steps", [lock_own_rows])
    variant = factories.make_variant(shop, stock=5)
    source = enter_checkout(shop, (variant, 1))["cart_token"]
    customer = factories.make_customer(shop)
    shop.storefront.put(f"carts/{source}/customer.json", {"customer_id": customer.pk})

    answer = shop.storefront.post(f"carts/{cart_with(shop)}/merge.json", {"source_cart_token": source})

    assert (answer.status_code, answer.json()["cart"]["customer_id"]) == (200, str(customer.pk))
    ((before, rows),) = locked
    assert before == ["carts", "checkouts", "inventory_levels"]
    assert rows == [row.pk]


def test_step_of_archiving_locks_its_own_rows(shop, row, locked, lock_own_rows, monkeypatch):
    # An app may stand before `checkouts` in INSTALLED_APPS.
    monkeypatch.setattr(archiving, "_steps", [lock_own_rows])
    enter_checkout(shop, (factories.make_variant(shop, stock=5), 1))

    answer = shop.workspace.delete(f"accounts/{shop.handle}.json")

    assert (answer.status_code, answer.json()["account"]["status"]) == (200, "archived")
    ((before, rows),) = locked
    assert {"checkouts", "inventory_levels"} <= set(before)
    assert rows == [row.pk]
