import pytest

from tests.rest.routes import World
from tests.shops import Shop


@pytest.fixture
def world(shop: Shop) -> World:
    """The shop with a row of every model."""
    return World.of(shop)


@pytest.fixture
def other_world(other_shop: Shop) -> World:
    """The same of a shop in another workspace: what could leak."""
    return World.of(other_shop)
