import pytest

from tests.emails.conftest import Renderer, renderer  # noqa: F401  a fixture
from tests.rest.routes import World
from tests.shops import Shop


@pytest.fixture
def world(shop: Shop, renderer: Renderer) -> World:  # noqa: F811  the fixture
    """A shop with a row of every model, and a renderer that accepts anything."""
    return World.of(shop)
