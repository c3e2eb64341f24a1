"""Actions on several selected rows lock table by table, like everyone else, so they don't deadlock."""

import time
from threading import Event

import pytest
from django.db import connection
from django.utils import timezone

from commerce.catalog.models import Product, Variant
from commerce.tenancy.locks import lock
from discounts.models import Discount, Voucher
from discounts.operations import create_discount
from shipping.models import ShippingMethod, ShippingRate
from tests import factories
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)

CARD = {
    "type": "gift_card",
    "title": "Card",
    "value_mode": "fixed_amount",
    "value_amount": 5000,
    "currency": "EUR",
}


def make_discounts(shop):
    with shop.scope():
        card = create_discount(fields=CARD, actor="test", now=timezone.now())
    other = factories.make_discount(shop, code="TEN")
    return [card.pk, other.pk], (Discount, other.pk), (Voucher, card.voucher_id)


def make_products(shop):
    first, second = factories.make_variant(shop), factories.make_variant(shop)
    return (
        [first.product_id, second.product_id],
        (Product, second.product_id),
        (Variant, first.pk),
    )


def make_methods(shop):
    first, second = factories.make_rate(shop), factories.make_rate(shop)
    return (
        [first.method_id, second.method_id],
        (ShippingMethod, second.method_id),
        (ShippingRate, first.pk),
    )


@pytest.mark.parametrize(
    ("make", "page", "action", "ended"),
    [
        (make_discounts, "discounts/discount/", "archive", {"status": "archived"}),
        (make_products, "catalog/product/", "archive", {"status": "archived"}),
        (make_methods, "shipping/shippingmethod/", "delete_selected", {"deleted_at__isnull": False}),
    ],
)
def test_selection_whose_last_row_is_locked_keeps_no_part_of_the_first(
    shop, owner, make, page, action, ended
):
    ids, (model, last_id), (part, part_id) = make(shop)
    is_locked = Event()

    def work(index):
        if index == 0:
            assert is_locked.wait(timeout=30)
            data = {"action": action, "_selected_action": ids, "index": 0, "post": "yes"}
            return owner.post(page, data).status_code
        with shop.scope():
            lock(model.objects.all()).get(pk=last_id)
            is_locked.set()
            wait_until(is_somebody_waiting)
            # If the page waited with this row locked, this would be a deadlock.
            return lock(part.objects.all()).get(pk=part_id).pk

    assert run_threads(2, work) == [302, part_id]
    with shop.scope():
        assert sorted(model.objects.filter(pk__in=ids, **ended).values_list("pk", flat=True)) == ids
        if part is Voucher:
            assert Voucher.objects.get().status == "disabled"


def is_somebody_waiting():
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return cursor.fetchone()[0]


def wait_until(is_so, *, within_s=30):
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
