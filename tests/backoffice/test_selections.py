"""Actions on several selected rows lock table by table, like everyone else, so they don't deadlock."""

import time
from threading import Event

import pytest
from django.db import connection

from commerce.tenancy.locks import lock
from shipping.models import ShippingMethod, ShippingRate
from tests import factories
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


def is_somebody_waiting():
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return cursor.fetchone()[0]


def wait_until(is_so, *, within_s=30):
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
