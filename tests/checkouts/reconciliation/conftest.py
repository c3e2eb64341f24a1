import pytest

from tests.checkouts.reconciliation.sale import Sale


@pytest.fixture
def sold(shop):
    return Sale(shop, "completed")


@pytest.fixture
def paying(shop):
    return Sale(shop, "processing")
