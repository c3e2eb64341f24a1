import pytest

from tests.commerce.orders.api.placing import place


@pytest.fixture
def order(shop):
    """An order of two out of five units, with cash on delivery."""
    return place(shop)
