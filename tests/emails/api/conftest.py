import pytest

from tests.factories import make_customer


@pytest.fixture
def customer(shop):
    return make_customer(shop, email="ann@example.com", locale="cs-CZ")
