"""An ended key stops working at once if Redis announces it, and within 5 s otherwise."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import redis
import time_machine

from accounts import authentication
from accounts.models import ApiKey
from accounts.operations import OPERATOR, revoke_key
from commerce.redis import client as redis_client
from commerce.tenancy.scope import workspace_scope
from tests.clients import ApiClient

# All of these read committed rows, by the database's clock.
pytestmark = pytest.mark.django_db(transaction=True)


def status(client):
    return client.get("markets.json").status_code


@pytest.fixture(autouse=True)
def _keys_stay_resolved():
    """Keep resolved keys only as long as in production, because these tests are about that."""


class OtherProcess:
    """Another process of the installation: changes made there don't touch this process's memory."""

    def __enter__(self):
        self.remembered = dict(authentication._cache)

    def __exit__(self, *error):
        authentication._cache.clear()
        authentication._cache.update(self.remembered)


def revoke_all(shop):
    with workspace_scope(shop.workspace_id):
        for key in ApiKey.objects.all():
            revoke_key(issuer=OPERATOR, key_id=key.pk, now=datetime.now(UTC))


@pytest.fixture
def without_redis(monkeypatch):
    """Make Redis unavailable, for keys and limits alike."""
    away = redis.Redis(host="127.0.0.1", port=1, socket_connect_timeout=0.2, retry=None)
    monkeypatch.setattr("commerce.rest.limits.client", lambda: away)
    monkeypatch.setattr("accounts.authentication.client", lambda: away)


def test_key_is_resolved_once_while_it_is_remembered(shop, django_assert_num_queries):
    assert status(shop.admin) == 200

    with django_assert_num_queries(2):  # the markets, commit: no key
        status(shop.admin)


def test_key_revoked_here_ends_at_once(shop):
    assert status(shop.admin) == 200

    revoke_all(shop)

    assert status(shop.admin) == 401


def test_key_revoked_in_another_process_ends_with_the_next_request(shop):
    assert status(shop.admin) == 200

    with OtherProcess():
        revoke_all(shop)

    assert status(shop.admin) == 401


def test_storefront_key_revoked_in_another_process_ends_within_a_tenth_of_a_second(shop):
    assert status(shop.storefront) == 200

    with OtherProcess():
        revoke_all(shop)

    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=0.2)):
        assert status(shop.storefront) == 401


def test_key_revoked_just_after_it_was_resolved_does_not_work(shop, monkeypatch):
    count = authentication.limits.count

    def revoke_then_count(*args, **kwargs):
        monkeypatch.undo()
        with OtherProcess():
            revoke_all(shop)
        return count(*args, **kwargs)

    monkeypatch.setattr(authentication.limits, "count", revoke_then_count)

    assert [status(shop.admin), status(shop.admin)] == [401, 401]


def test_account_archived_in_another_process_is_gone_with_the_next_request(shop):
    assert status(shop.admin) == 200

    with OtherProcess():
        shop.workspace.delete(f"accounts/{shop.handle}.json")

    assert status(shop.admin) == 404


def test_key_revoked_in_another_process_without_redis_ends_within_five_seconds(shop, without_redis):
    assert status(shop.admin) == 200

    with OtherProcess():
        revoke_all(shop)

    assert status(shop.admin) == 200
    for key, grant in authentication._cache.items():
        authentication._cache[key] = aged(grant, seconds=5)
    assert status(shop.admin) == 401


def aged(grant, *, seconds):
    return replace(grant, resolved_at=grant.resolved_at - seconds)


def test_key_is_remembered_for_less_than_five_seconds():
    assert authentication.CACHE_S < 5


def test_memory_of_redis_lost_is_no_way_back_for_a_key(shop):
    assert status(shop.admin) == 200
    with OtherProcess():
        revoke_all(shop)
    redis_client().flushdb()

    for key, grant in authentication._cache.items():
        authentication._cache[key] = aged(grant, seconds=5)

    assert status(shop.admin) == 401


def test_key_that_expires_ends(shop):
    soon = datetime.now(UTC) + timedelta(seconds=1)
    client = ApiClient.admin(shop.issue("admin", expires_at=soon), shop.handle)
    before = status(client)
    assert before == 200 or datetime.now(UTC) >= soon

    while datetime.now(UTC) < soon:
        time.sleep(0.05)

    assert status(client) == 401


def test_key_that_has_expired_never_works(shop):
    now = datetime.now(UTC)
    gone = shop.issue("admin", now=now - timedelta(seconds=2), expires_at=now - timedelta(seconds=1))

    assert status(ApiClient.admin(gone, shop.handle)) == 401


def test_key_of_one_account_is_remembered_for_no_other(shop, make_shop):
    sister = make_shop(workspace_id=shop.workspace_id)

    for _ in range(2):
        assert shop.workspace.get(f"{shop.handle}/markets/{shop.market.pk}.json").status_code == 200
        assert shop.workspace.get(f"{sister.handle}/markets/{shop.market.pk}.json").status_code == 404
        assert shop.workspace.get(f"{sister.handle}/markets/{sister.market.pk}.json").status_code == 200


def test_account_made_after_it_was_asked_for_is_found(shop):
    assert shop.workspace.get("tea-house/markets.json").status_code == 404

    shop.workspace.post("accounts.json", {"handle": "tea-house", "name": "Tea", "default_currency": "EUR"})

    assert shop.workspace.get("tea-house/markets.json").status_code == 200


def test_memory_of_keys_is_bounded(shop, monkeypatch):
    monkeypatch.setattr(authentication, "CACHE_SIZE", 3)

    for _ in range(10):
        assert status(shop.client_with()) == 200

    assert len(authentication._cache) == 3


def test_full_memory_forgets_what_was_resolved_longest_ago(shop, monkeypatch):
    monkeypatch.setattr(authentication, "CACHE_SIZE", 3)
    monkeypatch.setattr(authentication, "CACHE_S", -1.0)
    secrets = [shop.issue("admin") for _ in range(10)]

    for secret in secrets:
        assert status(shop.storefront) == 200
        assert status(ApiClient.admin(secret, shop.handle)) == 200

    assert remembered() == [place(secrets[8], shop.handle), public(shop), place(secrets[9], shop.handle)]


def remembered():
    return list(authentication._cache)


def place(secret, handle=None):
    """The place of a key in the memory of keys."""
    return authentication.hash_secret(secret), handle


def public(shop):
    return place(shop.storefront.headers["X-Storefront-Key"])


@pytest.mark.parametrize("kind", ["workspace", "admin"])
def test_made_up_handles_take_one_place_in_memory(shop, other_shop, kind):
    assert status(other_shop.storefront) == 200
    secret = shop.issue(kind)

    for number in range(3):
        assert status(ApiClient.admin(secret, f"no-shop-{number}")) == 404
    assert status(ApiClient.admin(secret, shop.handle)) == 200
    assert status(ApiClient.admin(secret, "no-shop-4")) == 404

    assert remembered() == [public(other_shop), place(secret, shop.handle), place(secret)]


def test_key_that_was_used_with_a_made_up_handle_works_elsewhere(shop):
    assert shop.workspace.get("no-shop/markets.json").status_code == 404

    assert shop.workspace.get(f"accounts/{shop.handle}.json").status_code == 200
    assert shop.workspace.get(f"{shop.handle}/markets.json").status_code == 200


def test_key_of_the_other_surface_is_not_remembered_and_its_own_surface_still_knows_it(
    shop, django_assert_num_queries
):
    key = shop.storefront.headers["X-Storefront-Key"]
    secret = shop.issue("admin")
    assert status(shop.storefront) == 200
    before = dict(authentication._cache)

    assert status(ApiClient.admin(key, shop.handle)) == 401
    assert status(ApiClient.admin(key, "no-shop")) == 401
    assert ApiClient.admin(key).get("accounts.json").status_code == 401
    assert status(ApiClient.storefront(secret)) == 401

    assert authentication._cache == before
    with django_assert_num_queries(2):  # the markets, commit: no key
        assert status(shop.storefront) == 200


def test_unknown_keys_are_not_remembered(shop):
    for number in range(10):
        assert status(ApiClient.admin(f"sk_{number:032}", shop.handle)) == 401

    assert authentication._cache == {}
