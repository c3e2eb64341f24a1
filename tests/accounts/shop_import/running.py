"""Runs the command on shops of tests."""

import json
from io import StringIO
from typing import Any

from django.core.management import call_command

from tests.accounts.shop_import.reading import SAMPLES
from tests.shops import Shop

SHOPIFY = str(SAMPLES / "shopify-products.csv")
SHOPIFY_STOCK = str(SAMPLES / "shopify-inventory.csv")
SHOPIFY_CUSTOMERS = str(SAMPLES / "shopify-customers.csv")
WOOCOMMERCE = str(SAMPLES / "woocommerce-products.csv")
# Of the file that the fixture `export` writes.
HEADER = (
    "Handle,Title,Option1 Value,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Price\n"
)


def run(shop: Shop, *arguments: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Run the command; return its JSON lines, and what it wrote to standard error."""
    out, err = StringIO(), StringIO()
    call_command("import_shop", shop.handle, *arguments, "--json", stdout=out, stderr=err)
    return [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue().splitlines()


def counts(row: dict[str, Any]) -> list[int]:
    return [row[name] for name in ("added", "changed", "unchanged", "refused", "skipped")]
