"""Fixtures for all tests. `tests.embedded` creates the servers and databases."""

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
from emails.own_calls import forget_own_calls
from emails.paces import forget_paces
from emails.providers.relay import forget_relays
from emails.shared_resting import forget_shared
from tests.embedded import truncate_tables
from tests.shops import Shop
from tests.shops import make_shop as _make_shop
from tests.tenancy.watching import Watch
from tests.vies import ViesDouble

# For long searches by hand: pytest --hypothesis-profile=long --timeout=0 tests/properties tests/discounts
settings.register_profile("long", max_examples=2_000, deadline=None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest test first, so that no process waits for it at the end."""
    items.sort(key=lambda item: "/stack/faults/" not in str(item.path))


@pytest.fixture(scope="session")
def django_db_setup() -> Iterator[None]:
    """Use the existing databases; their owner removes what transactional tests leave behind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", truncate_tables)
        yield


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    """Forget rate limits, key versions and resolved keys after each test."""
    yield
    authentication._cache.clear()
    limits.forget_counts()
    forget_shared()
    forget_paces()
    forget_own_calls()
    forget_relays()
    client().flushdb()


@pytest.fixture(autouse=True)
def _keys_stay_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep resolved keys for a whole test, however slow the machine is."""
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
def _statements_keep_the_rules(_statements: Watch) -> Iterator[None]:
    """Every statement that the product sends during a test keeps the rules of `tests.tenancy.watching`."""
    yield
    found, _statements.found = _statements.found, []
    assert found == []


@pytest.fixture
def make_shop(db: None) -> Callable[..., Shop]:
    """A factory of shops: `make_shop(handle=..., workspace_id=..., currency=...)`."""
    return _make_shop


@pytest.fixture
def shop(make_shop: Callable[..., Shop]) -> Shop:
    """A shop with a market with gross prices in EUR, and a client of each kind."""
    return make_shop()


@pytest.fixture
def other_shop(make_shop: Callable[..., Shop]) -> Shop:
    """A shop of another workspace, whose rows must stay invisible."""
    return make_shop()


@pytest.fixture
def vies(settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[ViesDouble]:
    """A double of the EU's VAT number service. Every number is valid unless the test says otherwise."""
    server = ViesDouble()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    settings.VIES_URL = server.url
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
