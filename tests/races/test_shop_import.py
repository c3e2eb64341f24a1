"""Imports of stock while the same units are counted or sent elsewhere, with real threads."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.utils import timezone

from accounts.shop_import.drafts import StockDraft
from accounts.shop_import.operations import import_level
from commerce.customers.models import Customer
from commerce.inventory.models import InventoryAdjustment, InventoryLevel, Location
from commerce.inventory.operations import adjust_level
from tests import factories
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"


@pytest.fixture
def tea(shop):
    return factories.make_variant(shop, sku="TEA", product__handle="tea", stock=None)


@pytest.fixture
def location(shop):
    with shop.scope():
        return Location.objects.get()


def run_import(shop, path, *arguments):
    """Run the command; return the counts of what was added, changed and left unchanged."""
    out = StringIO()
    try:
        call_command(
            "import_shop", shop.handle, str(path), *arguments, "--json", stdout=out, stderr=StringIO()
        )
    finally:
        connections.close_all()
    (row,) = map(json.loads, out.getvalue().splitlines())
    return [row[name] for name in ("added", "changed", "unchanged")]


def import_after(shop, change, path, *arguments):
    """Make a change, and start an import before the change is committed. Return what the import counts."""
    with ThreadPoolExecutor(1) as pool:
        with shop.scope():
            change()
            result = pool.submit(run_import, shop, path, *arguments)
            wait_until_blocked(result)
        return result.result(timeout=120)


def wait_until_blocked(result):
    deadline = time.monotonic() + 120
    with psycopg.connect(os.environ["TEST_DATABASE_SUPERUSER_URL"], autocommit=True) as monitor:
        while not monitor.execute(WAITING, [connection.settings_dict["NAME"]]).fetchone()[0]:
            assert time.monotonic() < deadline
            assert not result.done()
            time.sleep(0.02)


def list_adjustments(shop):
    with shop.scope():
        return list(
            InventoryAdjustment.objects.order_by("pk").values_list("delta", "reason", "on_hand_after")
        )


def test_two_imports_of_one_file_of_stock_add_its_units_once(shop, tea, location, tmp_path):
    path = tmp_path / "inventory.csv"
    path.write_text(f"Handle,Title,SKU,Location,Available\ntea,Tea,TEA,{location.name},38\n")
    draft = StockDraft(line=2, sku="TEA", location=location.name, on_hand=38)

    def import_first():
        import_level(draft, location_id=location.pk, updates=False, now=timezone.now())

    assert import_after(shop, import_first, path) == [0, 0, 1]

    assert list_adjustments(shop) == [(38, "received", 38)]


@pytest.mark.parametrize("kind", ["stock", "products"])
def test_counted_stock_is_that_of_the_file_though_units_were_sent(shop, tea, location, tmp_path, kind):
    texts = {
        "stock": f"Handle,Title,SKU,Location,Available\ntea,Tea,TEA,{location.name},20\n",
        "products": "Handle,Title,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Price\n"
        f"tea,{tea.product.title},TEA,shopify,20,10.00\n",
    }
    path = tmp_path / "export.csv"
    path.write_text(texts[kind])
    place = {"variant_id": tea.pk, "location_id": location.pk, "now": timezone.now()}
    with shop.scope():
        adjust_level(delta=10, reason="received", **place)

    def send_one():
        level = InventoryLevel.objects.select_for_update().get()
        level.on_hand -= 1
        level.save(update_fields=["on_hand"])

    assert import_after(shop, send_one, path, "--update") == [0, 1, 0]

    assert list_adjustments(shop) == [(10, "received", 10), (11, "count", 20)]


def test_imports_of_one_file_of_products_at_once_store_each_once(shop, location, tmp_path):
    path = tmp_path / "products.csv"
    header = "Handle,Title,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Price\n"
    path.write_text(header + "".join(f"tea-{n},Tea,TEA-{n},shopify,{n},8.90\n" for n in range(1, 13)))

    def run(_index):
        call_command("import_shop", shop.handle, str(path), stdout=StringIO(), stderr=StringIO())

    failures = [result for result in run_threads(4, run) if result is not None]

    # What another import was storing at that moment is refused.
    assert {type(failure) for failure in failures} <= {CommandError}
    with shop.scope():
        levels = InventoryLevel.objects.order_by("on_hand").values_list("variant__sku", "on_hand")
        assert list(levels) == [(f"TEA-{n}", n) for n in range(1, 13)]
    assert sorted(list_adjustments(shop)) == [(n, "received", n) for n in range(1, 13)]


def test_imports_of_one_file_of_customers_at_once_store_each_once(shop, tmp_path):
    path = tmp_path / "customers.csv"
    rows = [f"A,B,buyer{n}@example.com\n" for n in range(250)]
    path.write_text("First Name,Last Name,Email\n" + "".join(rows))

    def run(_index):
        call_command("import_shop", shop.handle, str(path), stdout=StringIO(), stderr=StringIO())

    failures = [result for result in run_threads(4, run) if result is not None]

    assert {type(failure) for failure in failures} <= {CommandError}
    with shop.scope():
        assert Customer.objects.count() == 250
