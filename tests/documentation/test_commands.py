"""Every shell block of the README and of the guides for new shops, pasted into a shell beside a running stack."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.stack.conftest import traversable_directory
from tests.stack.faults.stack import Stack

# Starting everything takes long on a busy machine.
pytestmark = pytest.mark.timeout(600)

START = "make run"


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """What `make run` starts, with the demo shops, in a data directory of its own."""
    with traversable_directory() as directory:
        stack = Stack.in_directory(directory)
        try:
            stack.start()
            yield stack
        finally:
            stack.stop()


def read_blocks(name: str) -> list[str]:
    text = (settings.BASE_DIR / name).read_text()
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def paste(blocks: list[str], stack: Stack) -> list[str]:
    """Run the blocks in one shell, which ends at the first that fails. Return what it printed."""
    data = stack.data.root
    script = "\n".join(blocks).replace(".data/", f"{data}/")
    script = script.replace("http://127.0.0.1:8000", stack.found().base_url)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=settings.BASE_DIR,
        env=kept | {"DATA_DIR": str(data), "NO_PROXY": "127.0.0.1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout.splitlines()


def test_readme_leads_to_an_order_and_its_email(stack: Stack):
    start, *blocks = read_blocks("README.md")

    *_, number, subject = paste(blocks, stack)

    assert start.startswith(f"{START} ")
    assert number.isdigit()
    assert subject == f"Ihre Bestellung {number} bei Paper Harbour"


def test_demo_of_the_readme_sells(stack: Stack):
    start, *_ = read_blocks("README.md")
    [_, demo] = [line.partition("#")[0].strip() for line in start.splitlines()]

    shown = paste([demo], stack)

    assert demo == "make demo"
    assert shown[-1].endswith(".eml")
    assert Path(shown[-1].removeprefix("The confirmation: ")).exists()


def test_first_shop_leads_to_an_order_and_its_email(stack: Stack):
    start, *blocks = read_blocks("docs/first-shop.md")

    *shown, email = paste(blocks, stack)

    assert start.strip() == START
    assert shown == [
        "tea", "700", "50", "1780", "address", "2270", "2470", "pending", "True", "('1001', '2470')",
        "Your order 1001 at Tea Traders",
    ]  # fmt: skip
    assert "Tea Traders" in Path(email).read_text()


def test_move_from_shopify_leads_to_a_shop_with_its_products(stack: Stack):
    shown = paste(read_blocks("docs/move-from-shopify.md"), stack)

    notebooks = [("FW-A5-BLAU", "1890"), ("FW-A6-BLAU", "1290"), ("FW-A5-ROT", "1890")]
    tried, rest = shown[:5], shown[5:]
    file = "docs/moving/shopify-products.csv"
    assert tried[:3] == [
        "paper",
        "1900",
        f"{file}: Shopify's products: would be added 4, changed 0, unchanged 0, refused 0, skipped 2",
    ]
    assert tried[3].startswith(f"{file}: columns that have no place here: Vendor (6), ")
    assert tried[4] == "Lager Leipzig"
    assert [line for line in rest if "columns" not in line] == [
        f"{file}: Shopify's products: added 4, changed 0, unchanged 0, refused 0, skipped 2",
        "docs/moving/shopify-inventory.csv: Shopify's stock: added 3, changed 0, unchanged 0, refused 0, skipped 1",
        "docs/moving/shopify-customers.csv: Shopify's customers: added 2, changed 0, unchanged 0, refused 0, skipped 1",
        f"{file}: Shopify's products: added 0, changed 0, unchanged 4, refused 0, skipped 2",
        str([("briefpapier-probe", "0"), ("00417", "6400"), *notebooks]),
        "2500",
    ]


def test_move_from_woocommerce_leads_to_a_shop_with_its_products(stack: Stack):
    shown = paste(read_blocks("docs/move-from-woocommerce.md"), stack)

    file, people = "docs/moving/woocommerce-products.csv", "docs/moving/woocommerce-customers.csv"
    assert [line for line in shown if "columns" not in line] == [
        "candles", "2100", "1200",
        f"{file}: WooCommerce's products: would be added 3, changed 0, unchanged 0, refused 0, skipped 1",
        f"{file}: WooCommerce's products: added 3, changed 0, unchanged 0, refused 0, skipped 1",
        f"{people}: WooCommerce's customers: added 2, changed 0, unchanged 0, refused 0, skipped 0",
        f"{file}: WooCommerce's products: added 0, changed 0, unchanged 3, refused 0, skipped 1",
        "[('SV-LEV-120', '32900'), ('SV-LEV-220', '54950'), ('SV-CAJ', '14900')]",
    ]  # fmt: skip
