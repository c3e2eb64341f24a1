"""A shop in which the examples of docs/clients.md can buy, in a folder with the file that `make run` would write."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings

from tests import factories
from tests.shops import Shop

DOCUMENT = settings.BASE_DIR / "docs" / "clients.md"
# What the documented commands call the running product.
DOCUMENTED_URL = "http://127.0.0.1:8000"
# Two books at 11.90 and the delivery at 4.90, which the shop below sells.
PRINTED = "Order 1001: 2870 cents in EUR\n"


@pytest.fixture
def folder(shop: Shop, live_server, tmp_path: Path) -> Path:
    """A folder with the keys of a shop that sells one product, as `.data/demo.json`."""
    factories.make_variant(shop, price_cents=1190, stock=10)
    factories.make_rate(shop, price_cents=490)
    account = {
        "handle": shop.handle,
        "storefront_key": shop.issue("storefront"),
        "admin_key": shop.issue("admin"),
    }
    demo = {"base_url": live_server.url, "workspaces": [{"accounts": [account]}]}
    (tmp_path / ".data").mkdir()
    (tmp_path / ".data" / "demo.json").write_text(json.dumps(demo))
    return tmp_path


def read_block(language: str, section: str) -> str:
    """Return the block of a language in a section of the document."""
    _, _, text = DOCUMENT.read_text().partition(f"\n## {section}\n")
    found = re.search(rf"^```{language}\n(.*?)^```$", text.partition("\n## ")[0], re.MULTILINE | re.DOTALL)
    assert found, f"{section} has no block of {language}"
    return found[1]
