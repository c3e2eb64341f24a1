from typing import Any

import pytest

from commerce.tenancy.models import AccountOwned
from tests.rows import make_rows
from tests.shops import Shop

Rows = dict[type[AccountOwned], Any]


@pytest.fixture
def rows(shop: Shop) -> Rows:
    """Create a row of every account-owned model in the shop."""
    with shop.scope():
        return make_rows()


@pytest.fixture
def other_rows(other_shop: Shop) -> Rows:
    """Create the same in the other shop: rows that could leak."""
    with other_shop.scope():
        return make_rows()
