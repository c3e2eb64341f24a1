"""A key can't manage a sibling's keys, or issue or revoke keys with more scopes or a later expiry than its own."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, connections
from django.utils import timezone

from accounts.authentication import hash_secret
from accounts.models import ApiKey
from accounts.operations import OPERATOR, revoke_key
from commerce.tenancy.scope import workspace_scope
from tests.clients import ApiClient
from tests.problems import problem
from tests.threads import run_threads

REFUSED = (403, "insufficient_scope")


def rows(shop):
    """Return every key of the workspace. A refusal must not change them."""
    with workspace_scope(shop.workspace_id):
        return list(ApiKey.objects.order_by("pk").values("pk", "expires_at", "revoked_at", "scopes"))


def id_of(shop, secret):
    with workspace_scope(shop.workspace_id):
        return ApiKey.objects.values_list("pk", flat=True).get(secret_hash=hash_secret(secret))


def admin(shop, **fields):
    """Issue an admin key and return its id."""
    return id_of(shop, shop.issue("admin", **fields))


def in_minutes(minutes):
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


def issue(client, **fields):
    return client.post("api_keys.json", {"kind": "admin", "name": "App"} | fields)


@pytest.fixture
def sister(make_shop, shop):
    """Another shop of the same workspace."""
    return make_shop(workspace_id=shop.workspace_id)


def test_workspace_key_does_not_find_a_siblings_keys_under_a_handle(shop, sister):
    client = ApiClient.admin(shop.issue("workspace"), shop.handle)
    theirs, before = admin(sister), rows(shop)

    listed = client.get("api_keys.json").json()["api_keys"]
    answers = [
        client.delete(f"api_keys/{theirs}.json"),
        client.post(f"api_keys/{theirs}/rotate.json"),
    ]

    assert [problem(answer) for answer in answers] == [(404, "not_found")] * 2
    assert {key["id"] for key in listed}.isdisjoint({str(theirs)})
    assert {key["kind"] for key in listed} == {"workspace", "admin", "storefront"}
    assert rows(shop) == before


def test_database_hides_a_siblings_keys_while_an_account_is_in_scope(shop, sister):
    with connection.cursor() as cursor, workspace_scope(shop.workspace_id), shop.scope():
        cursor.execute("SELECT DISTINCT account_id FROM api_keys ORDER BY account_id")
        assert cursor.fetchall() == [(shop.id,), (None,)]


@pytest.mark.parametrize("scopes", [[], ["read_orders"], ["write_api_keys", "write_orders"]])
def test_key_that_may_do_more_is_neither_revoked_nor_rotated(shop, scopes):
    client, mightier = shop.client_with("write_api_keys"), admin(shop, scopes=scopes)
    before = rows(shop)

    revoked = client.delete(f"api_keys/{mightier}.json")
    rotated = client.post(f"api_keys/{mightier}/rotate.json")

    assert [problem(revoked), problem(rotated)] == [REFUSED] * 2
    assert rows(shop) == before


def test_workspace_key_of_few_scopes_does_not_revoke_an_admin_key_of_more(shop):
    client = ApiClient.admin(shop.issue("workspace", scopes=["write_api_keys"]), shop.handle)
    mightier = admin(shop)

    assert problem(client.delete(f"api_keys/{mightier}.json")) == REFUSED


@pytest.mark.parametrize("scopes", [["read_api_keys"], ["write_api_keys", "read_orders"], ["write_orders"]])
def test_key_that_may_do_no_more_is_revoked(shop, scopes):
    client, weaker = shop.client_with("write_api_keys", "write_orders"), admin(shop, scopes=scopes)

    assert client.delete(f"api_keys/{weaker}.json").json()["api_key"]["revoked_at"] is not None


def test_storefront_key_is_revoked_and_rotated_by_any_key_that_may_write_keys(shop):
    client, public = shop.client_with("write_api_keys"), id_of(shop, shop.issue("storefront"))

    assert client.post(f"api_keys/{public}/rotate.json", {"grace_seconds": 60}).status_code == 201
    assert client.delete(f"api_keys/{public}.json").status_code == 200


@pytest.mark.parametrize("kind", ["admin", "storefront"])
@pytest.mark.parametrize("minutes", [None, 6, 600_000])
def test_key_that_ends_issues_none_that_ends_later(shop, kind, minutes):
    client = shop.client_with("write_api_keys", expires_at=timezone.now() + timedelta(minutes=5))
    before = rows(shop)

    expires_at = minutes and in_minutes(minutes)
    answer = issue(client, kind=kind, expires_at=expires_at, scopes=["write_api_keys"][: kind == "admin"])

    assert problem(answer) == REFUSED
    assert rows(shop) == before


def test_key_that_ends_issues_one_that_ends_as_early(shop):
    end = timezone.now() + timedelta(minutes=5)
    client = shop.client_with("write_api_keys", expires_at=end)

    assert issue(client, expires_at=end.isoformat(), scopes=["read_api_keys"]).status_code == 201


def test_key_that_ends_gets_no_longer_life_by_rotating_another(shop):
    client = shop.client_with("write_api_keys", expires_at=timezone.now() + timedelta(minutes=5))
    lasting, before = admin(shop, scopes=["write_api_keys"]), rows(shop)

    assert problem(client.post(f"api_keys/{lasting}/rotate.json")) == REFUSED
    assert rows(shop)[: len(before)] == before


def test_key_rotates_itself_and_keeps_its_scopes_and_its_end(shop):
    end = timezone.now() + timedelta(minutes=5)
    secret = shop.issue("admin", scopes=["write_api_keys"], expires_at=end)
    own = id_of(shop, secret)

    new = ApiClient.admin(secret, shop.handle).post(f"api_keys/{own}/rotate.json", {"grace_seconds": 60})

    key = new.json()["api_key"]
    assert (key["scopes"], datetime.fromisoformat(key["expires_at"])) == (["write_api_keys"], end)


def test_rotated_key_does_not_lengthen_its_grace_by_rotating_its_successor(shop):
    secret = shop.issue("admin", scopes=["write_api_keys"])
    client = ApiClient.admin(secret, shop.handle)
    answer = client.post(f"api_keys/{id_of(shop, secret)}/rotate.json", {"grace_seconds": 600})

    assert problem(client.post(f"api_keys/{answer.json()['api_key']['id']}/rotate.json")) == REFUSED
    assert problem(issue(client, scopes=["write_api_keys"])) == REFUSED


@pytest.mark.django_db(transaction=True)
def test_rotations_at_once_make_one_successor(shop):
    for _ in range(5):
        key = admin(shop)
        before = len(rows(shop))

        answers = run_threads(4, lambda _, key=key: shop.admin.post(f"api_keys/{key}/rotate.json"))

        assert sorted(answer.status_code for answer in answers) == [201, 404, 404, 404]
        assert len(rows(shop)) == before + 1


@pytest.mark.django_db(transaction=True)
def test_keys_that_revoke_each_other_at_once_leave_one_alive(shop):
    for _ in range(5):
        secrets = [shop.issue("admin") for _ in range(2)]
        ids = [id_of(shop, secret) for secret in secrets]
        clients = [ApiClient.admin(secret, shop.handle) for secret in secrets]

        answers = run_threads(
            2, lambda i, ids=ids, clients=clients: clients[i].delete(f"api_keys/{ids[1 - i]}.json")
        )

        assert sorted(answer.status_code for answer in answers) == [200, 401]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", ["issue", "rotate"])
def test_key_that_is_being_revoked_leaves_no_other_behind(shop, act):
    secret = shop.issue("admin", scopes=["write_api_keys"])
    client, own = ApiClient.admin(secret, shop.handle), id_of(shop, secret)
    path = {"issue": "api_keys.json", "rotate": f"api_keys/{own}/rotate.json"}[act]
    body = {"kind": "admin", "name": "App", "scopes": ["write_api_keys"]} if act == "issue" else {}

    def ask():
        try:
            return client.post(path, body)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with shop.scope():
            revoke_key(issuer=OPERATOR, key_id=own, now=timezone.now())
            asked = pool.submit(ask)
            wait_until_it_waits(asked)
        answer = asked.result()

    assert problem(answer) == (401, "unauthenticated")
    assert answer["WWW-Authenticate"] == "Bearer"
    with shop.scope():
        assert ApiKey.objects.filter(revoked_at=None, scopes=["write_api_keys"]).count() == 0


def wait_until_it_waits(asked):
    """Wait until the request waits for our lock, or has finished without it."""
    waiting = False
    while not waiting and not asked.done():
        with connection.cursor() as cursor:
            cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
            (waiting,) = cursor.fetchone()
        time.sleep(0.01)
