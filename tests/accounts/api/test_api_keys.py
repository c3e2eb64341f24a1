"""api_keys.json: issuing, listing, rotating and revoking."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.authentication import hash_secret
from accounts.models import ApiKey
from commerce.principal import SCOPES
from tests.clients import ApiClient
from tests.problems import field_errors, problem

NOW = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)


def issue(client, kind="admin", **fields):
    """Issue a key and return its document with the secret."""
    response = client.post("api_keys.json", {"kind": kind, "name": "App"} | fields)
    assert response.status_code == 201, response.content
    return response.json()["api_key"]


def keys(client):
    return client.get("api_keys.json").json()["api_keys"]


def works(shop, key):
    """Whether a key is accepted by its API."""
    if key["kind"] == "storefront":
        return ApiClient.storefront(key["secret"]).get("markets.json").status_code == 200
    return ApiClient.admin(key["secret"], shop.handle).get("markets.json").status_code == 200


@pytest.mark.parametrize(("kind", "start"), [("admin", "sk_"), ("storefront", "pk_")])
def test_issue_answers_a_key_that_works_with_its_secret(shop, kind, start):
    response = shop.admin.post("api_keys.json", {"kind": kind, "name": "App"})

    key = response.json()["api_key"]
    assert response.status_code == 201
    assert re.fullmatch(start + "[0-9A-Za-z]{32}", key["secret"])
    assert key == {
        "id": key["id"],
        "kind": kind,
        "name": "App",
        "prefix": key["secret"][:8],
        "scopes": [],
        "secret": key["secret"],
        "created_at": key["created_at"],
        "expires_at": None,
        "last_used_at": None,
        "revoked_at": None,
    }
    assert works(shop, key)


def test_issue_stores_no_secret(shop):
    secret = issue(shop.admin)["secret"]

    with shop.scope():
        row = ApiKey.objects.latest("pk")
    assert bytes(row.secret_hash) == hash_secret(secret)
    assert secret not in repr(row.__dict__)


def test_issue_of_a_workspace_key_needs_a_workspace_key(shop):
    workspace = ApiClient.admin(shop.issue("workspace"), shop.handle)

    key = issue(workspace, kind="workspace")

    assert ApiClient.admin(key["secret"]).get("accounts.json").status_code == 200
    refused = shop.admin.post("api_keys.json", {"kind": "workspace", "name": "App"})
    assert problem(refused) == (403, "insufficient_scope")


def test_issue_never_grants_more_than_the_key_may_itself(shop):
    client = shop.client_with("write_api_keys", "write_products", "read_orders")

    assert works(shop, issue(shop.admin, scopes=["read_markets"]))
    assert issue(client, scopes=["write_products", "read_products", "read_orders"])["scopes"] == [
        "write_products",
        "read_products",
        "read_orders",
    ]
    for scopes in (None, [], ["write_orders"], ["read_products", "read_customers"]):
        refused = client.post("api_keys.json", {"kind": "admin", "name": "App", "scopes": scopes})
        assert problem(refused) == (403, "insufficient_scope")
    assert len(keys(shop.admin)) == 5


def test_issue_of_a_storefront_key_takes_no_scopes(shop):
    client = shop.client_with("write_api_keys")

    refused = shop.admin.post(
        "api_keys.json", {"kind": "storefront", "name": "App", "scopes": ["read_orders"]}
    )

    assert field_errors(refused) == {("scopes", "not_allowed")}
    assert issue(client, kind="storefront", scopes=[])["scopes"] == []


@pytest.mark.parametrize(
    ("field", "value", "path", "code"),
    [
        ("kind", "root", "kind", "invalid_choice"),
        ("name", "", "name", "blank"),
        ("scopes", ["read_everything"], "scopes.0", "invalid_choice"),
        ("scopes", "read_orders", "scopes", "not_a_list"),
        ("scopes", list(SCOPES) * 2, "scopes", "max_length"),
        ("expires_at", "2026-11-20T10:00:00Z", "expires_at", "in_the_past"),
        ("expires_at", "2027-01-01T00:00:00", "expires_at", "no_offset"),
        ("expires_at", "tomorrow", "expires_at", "invalid"),
    ],
)
def test_issue_with_a_bad_field_is_refused(shop, field, value, path, code):
    with time_machine.travel(NOW, tick=False):
        response = shop.admin.post("api_keys.json", {"kind": "admin", "name": "App"} | {field: value})

    assert field_errors(response) == {(path, code)}
    assert len(keys(shop.admin)) == 2


def test_scope_to_write_is_one_to_read_as_well(shop):
    client = shop.client_with("write_markets")

    assert client.get("markets.json").status_code == 200
    assert client.put(f"markets/{shop.market.pk}.json", {"name": "New"}).status_code == 200
    assert problem(client.get("customers.json")) == (403, "insufficient_scope")


def test_list_shows_the_accounts_keys_without_secrets(shop, other_shop):
    made = issue(shop.admin)

    listed = keys(shop.admin)

    assert [key["kind"] for key in listed] == ["admin", "storefront", "admin"]
    assert listed[0] == {name: value for name, value in made.items() if name != "secret"}


def test_list_shows_workspace_keys_to_workspace_keys_alone(shop):
    workspace = ApiClient.admin(shop.issue("workspace"), shop.handle)

    assert "workspace" in {key["kind"] for key in keys(workspace)}
    assert "workspace" not in {key["kind"] for key in keys(shop.admin)}


def test_workspace_key_is_not_there_for_an_admin_key(shop):
    key = issue(ApiClient.admin(shop.issue("workspace"), shop.handle), kind="workspace")

    assert problem(shop.admin.delete(f"api_keys/{key['id']}.json")) == (404, "not_found")
    assert problem(shop.admin.post(f"api_keys/{key['id']}/rotate.json")) == (404, "not_found")
    assert ApiClient.admin(key["secret"]).get("accounts.json").status_code == 200


def test_use_is_noted_once_a_minute(shop):
    key = issue(shop.admin)
    assert works(shop, key)

    used = next(listed for listed in keys(shop.admin) if listed["id"] == key["id"])

    assert used["last_used_at"] is not None


def test_revoke_ends_the_key_at_once_and_answers_the_same_again(shop):
    key = issue(shop.admin)
    assert works(shop, key)

    first = shop.admin.delete(f"api_keys/{key['id']}.json")
    second = shop.admin.delete(f"api_keys/{key['id']}.json")

    assert first.status_code == 200
    assert first.json()["api_key"]["revoked_at"] is not None
    assert second.json() == first.json()
    assert not works(shop, key)
    assert problem(ApiClient.admin(key["secret"], shop.handle).get("markets.json")) == (
        401,
        "unauthenticated",
    )


def test_revoke_of_the_key_that_asks_is_done(shop):
    client = shop.client_with("write_api_keys")
    (own,) = [key for key in keys(client) if key["scopes"]]

    assert client.delete(f"api_keys/{own['id']}.json").status_code == 200
    assert problem(client.get("api_keys.json")) == (401, "unauthenticated")


@pytest.mark.django_db(transaction=True)
def test_rotate_answers_a_new_key_and_ends_the_old_one(shop):
    old = issue(shop.admin, scopes=["read_markets"], expires_at="2040-01-01T00:00:00Z")

    response = shop.admin.post(f"api_keys/{old['id']}/rotate.json")

    new = response.json()["api_key"]
    assert response.status_code == 201
    assert new["id"] != old["id"]
    assert new["secret"] != old["secret"]
    for name in ("kind", "name", "scopes", "expires_at"):
        assert new[name] == old[name]
    assert (works(shop, new), works(shop, old)) == (True, False)


def test_rotate_with_a_grace_period_lets_the_old_key_live_through_it(shop):
    old = issue(shop.admin)

    with time_machine.travel(NOW, tick=False):
        new = shop.admin.post(f"api_keys/{old['id']}/rotate.json", {"grace_seconds": 3600}).json()["api_key"]

    retired = next(key for key in keys(shop.admin) if key["id"] == old["id"])
    assert retired["expires_at"] == "2026-11-20T11:00:00Z"
    assert retired["revoked_at"] is None
    assert works(shop, new)


def test_rotate_never_lengthens_the_old_keys_life(shop):
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    old = issue(shop.admin, expires_at=tomorrow.isoformat())

    shop.admin.post(f"api_keys/{old['id']}/rotate.json", {"grace_seconds": 31_536_000})

    retired = next(key for key in keys(shop.admin) if key["id"] == old["id"])
    assert retired["expires_at"] == old["expires_at"]


def test_rotate_of_a_dead_key_is_not_found(shop):
    old = issue(shop.admin)
    shop.admin.delete(f"api_keys/{old['id']}.json")
    count = len(keys(shop.admin))

    assert problem(shop.admin.post(f"api_keys/{old['id']}/rotate.json")) == (404, "not_found")
    assert len(keys(shop.admin)) == count


@pytest.mark.parametrize("grace", [-1, 31_536_001, "60", None, 1.5])
def test_rotate_with_a_bad_grace_period_is_refused(shop, grace):
    old = issue(shop.admin)

    response = shop.admin.post(f"api_keys/{old['id']}/rotate.json", {"grace_seconds": grace})

    assert {field for field, _ in field_errors(response)} == {"grace_seconds"}
    assert works(shop, old)


def test_rotate_of_a_key_that_may_more_is_refused(shop):
    mighty = issue(shop.admin)
    client = shop.client_with("write_api_keys")

    assert problem(client.post(f"api_keys/{mighty['id']}/rotate.json")) == (403, "insufficient_scope")
    assert works(shop, mighty)
