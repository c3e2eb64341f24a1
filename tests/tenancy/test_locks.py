"""The order of locks, and the checker of locking statements that the whole test run goes through."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection, transaction

from carts.models import Cart
from checkouts.models import Checkout
from commerce.backoffice.inlines import RowsInline
from commerce.backoffice.options import EditableAdmin
from commerce.inventory.models import InventoryLevel
from commerce.outbox.models import OutboxDispatch
from commerce.tenancy.locks import (
    LockOrderBroken,
    NoTransaction,
    Resource,
    about_to_lock,
    held_locks,
    lock,
    withdraw_lock,
)
from emails.models import EmailDelivery
from tests.factories import make_cart
from tests.tenancy import locking


def test_locks_taken_in_order_pass_and_are_known_until_the_scope_ends(shop):
    with shop.scope():
        list(lock(Cart.objects.all()))
        list(lock(Checkout.objects.all()))
        about_to_lock(Resource.STOCK_LEVEL)

        assert held_locks() == [Resource.CART, Resource.CHECKOUT, Resource.STOCK_LEVEL]
    with shop.scope():
        assert held_locks() == []
        about_to_lock(Resource.CART)


def test_lock_that_breaks_the_order_is_refused_before_its_statement_is_sent(shop, django_assert_num_queries):
    with shop.scope():
        list(lock(InventoryLevel.objects.all()))

        with (
            django_assert_num_queries(0),
            pytest.raises(LockOrderBroken, match="carts before inventory_levels"),
        ):
            list(lock(Cart.objects.all()))

        assert held_locks() == [Resource.STOCK_LEVEL]


def test_held_resource_may_be_locked_again(shop):
    with shop.scope():
        about_to_lock(Resource.CART)
        about_to_lock(Resource.STOCK_LEVEL)
        about_to_lock(Resource.CART)


def test_lock_that_found_nothing_can_be_withdrawn(shop):
    with shop.scope():
        about_to_lock(Resource.STOCK_LEVEL)
        withdraw_lock(Resource.STOCK_LEVEL)
        about_to_lock(Resource.VARIANT)

        assert held_locks() == [Resource.VARIANT]


def test_names_outside_of_the_order_come_last_and_one_at_a_time(shop):
    with shop.scope():
        about_to_lock(Resource.STOCK_LEVEL)
        about_to_lock("suppliers")

        for resource in ("parcels", Resource.CART):
            with pytest.raises(LockOrderBroken, match=f"{resource} before"):
                about_to_lock(resource)
        about_to_lock("suppliers")


def test_tables_of_other_apps_are_locked_in_the_order_of_installed_apps(shop):
    # Neither is in `Resource`.
    first, second = OutboxDispatch._meta.db_table, EmailDelivery._meta.db_table
    with shop.scope():
        about_to_lock(Resource.ORDER_COUNTER)
        about_to_lock(first)
        about_to_lock(second)

        assert held_locks() == [Resource.ORDER_COUNTER, first, second]
    with shop.scope():
        about_to_lock(second)
        with pytest.raises(LockOrderBroken, match=f"{first} before {second}"):
            about_to_lock(first)


def test_rows_skipped_if_locked_may_be_locked_at_any_time_but_count_as_held(shop):
    with shop.scope():
        about_to_lock(Resource.STOCK_LEVEL)
        list(lock(Checkout.objects.all(), skips_locked=True))

        assert held_locks() == [Resource.CHECKOUT, Resource.STOCK_LEVEL]
        with pytest.raises(LockOrderBroken, match="carts before checkouts, inventory_levels"):
            about_to_lock(Resource.CART)


def test_locks_of_a_savepoint_end_with_it(shop):
    with shop.scope():
        about_to_lock(Resource.CHECKOUT)
        with transaction.atomic():
            about_to_lock(Resource.STOCK_LEVEL)
            transaction.set_rollback(True)

        assert held_locks() == [Resource.CHECKOUT]
        about_to_lock(Resource.CUSTOMER)


@pytest.mark.django_db(transaction=True)
def test_lock_outside_of_a_transaction_is_refused():
    assert not connection.in_atomic_block
    with pytest.raises(NoTransaction):
        about_to_lock(Resource.CART)


def test_every_row_that_staff_edit_is_in_the_order():
    pages = [page for page in admin.site._registry.values() if isinstance(page, EditableAdmin)]
    inlines = [inline for page in pages for inline in page.inlines if issubclass(inline, RowsInline)]

    tables = {owner.model._meta.db_table for owner in (*pages, *inlines)}

    assert len(tables) > 10
    assert tables <= set(Resource)


def test_every_resource_is_a_table():
    assert set(Resource) <= {model._meta.db_table for model in apps.get_models()}


def test_lock_sends_one_statement_of_the_wanted_strength(shop, django_assert_num_queries):
    cart = make_cart(shop)
    with shop.scope(), django_assert_num_queries(3) as captured:
        assert lock(Cart.objects.filter(pk=cart.pk)).get() == cart
        assert lock(Cart.objects.filter(pk=cart.pk), keys_too=True).get() == cart
        assert lock(Cart.objects.filter(pk=cart.pk), skips_locked=True).get() == cart

    endings = [query["sql"].rpartition(" FOR ")[2].removesuffix(";") for query in captured]
    assert endings == ["NO KEY UPDATE", "UPDATE", "NO KEY UPDATE SKIP LOCKED"]


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ('SELECT "carts"."id" FROM "carts" WHERE "carts"."account_id" = %s FOR NO KEY UPDATE', ("carts",)),
        ('SELECT 1 FROM "carts" INNER JOIN "markets" ON (1) FOR UPDATE OF "carts"', ("carts",)),
        (
            "SELECT c.* FROM carts c\n JOIN markets m ON true\n WHERE c.id = %s\n FOR UPDATE OF c\n",
            ("carts",),
        ),
        ("SELECT id FROM carts WHERE id IN (SELECT cart_id FROM checkouts) FOR SHARE", ("carts",)),
        ("SELECT id FROM customers WHERE id = %s FOR KEY SHARE", ()),
        ("INSERT INTO carts (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 2", ()),
        ("SELECT id FROM carts", ()),
    ],
)
def test_locked_tables_are_told_from_read_ones(sql, tables):
    assert locking.locked_tables(sql) == tables
