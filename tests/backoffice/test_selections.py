"""Actions on several selected rows lock table by table, like everyone else, and look at rows once they are locked."""

import time
from threading import Event

import pytest
from django.db import connection
from django.utils import timezone

from commerce.backoffice.models import StaffAction
from commerce.orders.operations import cancel_order
from commerce.tenancy.locks import lock
from shipping.models import ShippingMethod, ShippingRate
from tests import factories
from tests.storefront import checkout_in
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def make_methods(shop):
    first, second = factories.make_rate(shop), factories.make_rate(shop)
    return (
        [first.method_id, second.method_id],
        (ShippingMethod, second.method_id),
        (ShippingRate, first.pk),
    )


def test_selection_whose_last_row_is_locked_keeps_no_part_of_the_first(shop, owner):
    ids, (model, last_id), (part, part_id) = make_methods(shop)
    is_locked = Event()

    def work(index):
        if index == 0:
            assert is_locked.wait(timeout=30)
            data = {"action": "delete_selected", "_selected_action": ids, "index": 0, "post": "yes"}
            return owner.post("shipping/shippingmethod/", data).status_code
        with shop.scope():
            lock(model.objects.all()).get(pk=last_id)
            is_locked.set()
            wait_until(is_somebody_waiting)
            # If the page waited with this row locked, this would be a deadlock.
            return lock(part.objects.all()).get(pk=part_id).pk

    assert run_threads(2, work) == [302, part_id]
    with shop.scope():
        deleted = model.objects.filter(pk__in=ids, deleted_at__isnull=False)
        assert sorted(deleted.values_list("pk", flat=True)) == ids


def test_row_that_somebody_else_is_about_to_change_is_not_logged_as_changed_again(shop, owner):
    variant = factories.make_variant(shop)
    order_id = int(checkout_in("completed", shop, (variant, 1))["order_id"])
    is_cancelled = Event()

    def work(index):
        if index == 0:
            assert is_cancelled.wait(timeout=30)
            page = owner.act_on_all("orders/order/", "cancel", order_id, reason="")
            return [outcome.reason for outcome in page.context["refused"]]
        with shop.scope():
            cancel_order(order_id=order_id, actor="test", now=timezone.now())
            is_cancelled.set()
            wait_until(is_somebody_waiting)
        return None

    assert run_threads(2, work) == [["Nothing to do."], None]
    with shop.scope():
        assert not StaffAction.objects.exists()


def is_somebody_waiting():
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return cursor.fetchone()[0]


def wait_until(is_so, *, within_s=30):
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
