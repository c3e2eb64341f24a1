from collections.abc import Callable
from pathlib import Path

import pytest

from tests.accounts.shop_import.running import HEADER


@pytest.fixture
def export(tmp_path: Path) -> Callable[..., str]:
    """Write a file of Shopify's products with these rows, and return its path."""

    def write(rows: str, header: str = HEADER) -> str:
        path = tmp_path / "products.csv"
        path.write_text(header + rows)
        return str(path)

    return write
