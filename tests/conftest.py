"""Fixtures that every test may ask for; the servers and databases are made by `tests.embedded`."""

import threading
from collections.abc import Callable, Iterator

import pytest
from django.db import connections
from django.db.backends.signals import connection_created
from django.test import TransactionTestCase
from hypothesis import settings

from accounts import authentication
from commerce.redis import client
from commerce.rest import limits
from emails.paces import forget_paces
from emails.providers.relay import forget_relays
from emails.shared_resting import forget_shared
from tests.embedded import truncate_tables
from tests.shops import Shop
from tests.shops import make_shop as _make_shop
from tests.tenancy.sharding import Watch
from tests.vies import ViesDouble

# A search of minutes, by hand: pytest --hypothesis-profile=long --timeout=0 tests/properties tests/discounts
settings.register_profile("long", max_examples=2_000, deadline=None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest test begins first, so that the other process doesn't wait for it in the end."""
    items.sort(key=lambda item: "/stack/faults/" not in str(item.path))


@pytest.fixture(scope="session")
def django_db_setup() -> Iterator[None]:
    """The databases are there already; what a transactional test left is removed by their owner."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", truncate_tables)
        yield


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    """Rate limits, key versions and resolved keys don't outlive a test."""
    yield
    authentication._cache.clear()
    limits.forget_counts()
    forget_shared()
    forget_paces()
    forget_relays()
    client().flushdb()


@pytest.fixture(autouse=True)
def _keys_stay_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, no test sees keys resolved again in its midst."""
    monkeypatch.setattr(authentication, "CACHE_S", 3600.0)


@pytest.fixture(scope="session")
def _statements() -> Iterator[Watch]:
    watch = Watch()
    connection_created.connect(watch.install)
    for connection in connections.all(initialized_only=True):
        watch.install(connection)
    yield watch
    connection_created.disconnect(watch.install)


@pytest.fixture(autouse=True)
def _statements_stay_on_one_shard(_statements: Watch) -> Iterator[None]:
    """Every statement that the product sends during a test compares `account_id`."""
    yield
    found, _statements.found = _statements.found, []
    assert found == []


@pytest.fixture
def make_shop(db: None) -> Callable[..., Shop]:
    """Makes shops: `make_shop(handle=..., workspace_id=..., currency=...)`."""
    return _make_shop


@pytest.fixture
def shop(make_shop: Callable[..., Shop]) -> Shop:
    """A shop with a market that shows gross prices in EUR, and a client of each kind."""
    return make_shop()


@pytest.fixture
def other_shop(make_shop: Callable[..., Shop]) -> Shop:
    """A shop of another workspace, whose rows must never be seen."""
    return make_shop()


@pytest.fixture
def vies(settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[ViesDouble]:
    """The EU's VAT number service, which knows every number unless told otherwise."""
    server = ViesDouble()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    settings.VIES_URL = server.url
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
