"""An installation with two more API versions, added by settings alone."""

from collections.abc import Callable, Iterator
from importlib import import_module

import pytest

from commerce.versions import api_versions, current_version
from config.versions import API_VERSIONS
from tests.clients import ApiClient
from tests.commerce.webhooks.conftest import receiver  # noqa: F401  a fixture
from tests.shops import Shop

VERSIONS = {**API_VERSIONS, "2099-01": "tests.versions.v2099_01", "2099-07": "tests.versions.v2099_07"}


@pytest.fixture
def add_versions(settings) -> Iterator[Callable[..., None]]:
    """Add versions, as later releases do."""

    def add() -> None:
        # Load the installation's URLs first, so that they are built with its own versions.
        import_module("config.urls")
        settings.API_VERSIONS = VERSIONS
        settings.ROOT_URLCONF = "tests.versions.urls"
        _forget()

    yield add
    settings.API_VERSIONS = API_VERSIONS
    _forget()


@pytest.fixture
def more_versions(add_versions) -> None:
    add_versions()


def _forget() -> None:
    api_versions.cache_clear()
    current_version.cache_clear()


def admin(shop: Shop, version: str) -> ApiClient:
    return ApiClient(f"/admin/{version}/{shop.handle}/", shop.admin.headers)


def storefront(shop: Shop, version: str) -> ApiClient:
    return ApiClient(f"/storefront/{version}/", shop.storefront.headers)
