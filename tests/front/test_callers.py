"""Requests count towards their shop's share of the threads, whichever of its keys they use."""

from datetime import UTC, datetime

import pytest
from django.db import connection

from accounts import authentication
from accounts.models import ApiKey
from accounts.operations import OPERATOR, revoke_key
from commerce.tenancy.scope import workspace_scope
from config.front.callers import identify_caller
from tests.clients import ADMIN_ROOT, STOREFRONT_ROOT, ApiClient

PATH = f"{STOREFRONT_ROOT}markets.json"


# Callers without a known key.
STRANGER = "address 192.0.2.1"


def caller(path, header=None, value="", *, address="192.0.2.1", **more):
    named = {header: value} if header else {}
    return identify_caller({"PATH_INFO": path, "REMOTE_ADDR": address, **named, **more})


def of_storefront(secret, **more):
    return caller(PATH, "HTTP_X_STOREFRONT_KEY", secret, **more)


def of_admin(secret, path):
    return caller(f"{ADMIN_ROOT}{path}", "HTTP_AUTHORIZATION", f"Bearer {secret}")


def test_all_keys_of_a_shop_are_one_caller(shop):
    public, secrets = [shop.issue("storefront") for _ in range(3)], [shop.issue("admin") for _ in range(3)]
    for secret in public:
        assert ApiClient.storefront(secret).get("markets.json").status_code == 200
    for secret in secrets:
        assert ApiClient.admin(secret, shop.handle).get("markets.json").status_code == 200
    assert shop.workspace.get(f"{shop.handle}/markets.json").status_code == 200

    callers = {of_storefront(secret) for secret in public}
    assert callers == {(f"account {shop.id}", "storefront")}
    path = f"{shop.handle}/orders.json"
    workspace = shop.workspace.headers["Authorization"].removeprefix("Bearer ")
    assert {of_admin(secret, path) for secret in (*secrets, workspace)} == {(f"account {shop.id}", "admin")}


def test_another_shop_is_another_caller_also_in_the_same_workspace(shop, make_shop):
    sister = make_shop(workspace_id=shop.workspace_id)
    workspace = shop.workspace.headers["Authorization"].removeprefix("Bearer ")
    for each in (shop, sister):
        assert shop.workspace.get(f"{each.handle}/markets.json").status_code == 200

    names = [of_admin(workspace, f"{each.handle}/markets.json").name for each in (shop, sister)]

    assert names == [f"account {shop.id}", f"account {sister.id}"]


def test_workspace_key_is_known_where_it_names_no_shop_or_none_that_is_known(shop):
    workspace = shop.workspace.headers["Authorization"].removeprefix("Bearer ")
    assert shop.workspace.get("accounts.json").status_code == 200

    paths = ("accounts.json", f"accounts/{shop.handle}.json", "made-up/orders.json")
    assert {of_admin(workspace, path).name for path in paths} == {f"workspace {shop.workspace_id}"}


@pytest.mark.parametrize("secret", ["", " ", "pk_made_up", "\x80"])
def test_request_without_a_known_key_is_of_its_address(shop, secret):
    assert of_storefront(secret) == (STRANGER, "storefront")
    assert of_storefront(secret, address="192.0.2.2").name == "address 192.0.2.2"
    assert of_admin(secret, f"{shop.handle}/orders.json") == (STRANGER, "admin")
    assert caller("/backoffice/") == (STRANGER, "")


def test_key_is_known_once_it_was_used(shop):
    secret = shop.issue("storefront")
    assert of_storefront(secret).name == STRANGER

    assert ApiClient.storefront(secret).get("markets.json").status_code == 200

    assert of_storefront(f" {secret} ").name == f"account {shop.id}"
    assert caller(PATH, "HTTP_AUTHORIZATION", f"Bearer {secret}").name == STRANGER


@pytest.mark.django_db(transaction=True)
def test_revoked_key_is_unknown_once_it_was_refused(shop):
    secret = shop.issue("storefront")
    client = ApiClient.storefront(secret)
    assert client.get("markets.json").status_code == 200
    with workspace_scope(shop.workspace_id):
        for key in ApiKey.objects.filter(kind="storefront"):
            revoke_key(issuer=OPERATOR, key_id=key.pk, now=datetime.now(UTC))

    assert client.get("markets.json").status_code == 401
    assert of_storefront(secret).name == STRANGER


def test_key_of_the_other_surface_is_of_its_address(shop):
    """A storefront key is public: with it, a stranger could take the places of the merchant's own programs."""
    public, secret = shop.issue("storefront"), shop.issue("admin")
    assert ApiClient.storefront(public).get("markets.json").status_code == 200
    assert ApiClient.admin(secret).get("shipping/pickup-points.json?carrier=gls").status_code == 200

    assert of_storefront(public).name == f"account {shop.id}"
    assert of_admin(secret, "shipping/pickup-points.json").name == f"workspace {shop.workspace_id}"
    for path in (f"{shop.handle}/orders.json", "made-up/orders.json", "accounts.json"):
        assert of_admin(public, path) == (STRANGER, "admin")
    assert of_storefront(secret) == (STRANGER, "storefront")


@pytest.mark.django_db(transaction=True)
def test_workspace_key_revoked_elsewhere_is_unknown_once_it_was_refused(shop):
    secret = shop.issue("workspace")
    client = ApiClient.admin(secret)
    assert client.get("accounts.json").status_code == 200
    assert client.get(f"{shop.handle}/markets.json").status_code == 200
    # As in another process, which only learns of it with its next request.
    known = dict(authentication._cache)
    with workspace_scope(shop.workspace_id):
        for key in ApiKey.objects.filter(kind="workspace"):
            revoke_key(issuer=OPERATOR, key_id=key.pk, now=datetime.now(UTC))
    authentication._cache.update(known)

    path = f"{shop.handle}/markets.json"
    assert of_admin(secret, path).name == f"account {shop.id}"
    assert client.get(path).status_code == 401
    assert of_admin(secret, path).name == STRANGER


def test_key_stays_known_while_it_is_resolved_again(shop, monkeypatch):
    """Otherwise requests of a busy shop would count as a stranger's every few seconds."""
    secret = shop.issue("storefront")
    client = ApiClient.storefront(secret)
    assert client.get("markets.json").status_code == 200
    monkeypatch.setattr(authentication, "CACHE_S", -1.0)
    seen = []
    resolve = authentication.resolve

    def watched(*arguments, **options):
        with connection.execute_wrapper(
            lambda run, *rest: (seen.append(of_storefront(secret).name), run(*rest))[1]
        ):
            return resolve(*arguments, **options)

    monkeypatch.setattr(authentication, "resolve", watched)
    assert client.get("markets.json").status_code == 200

    assert seen == [f"account {shop.id}"]


def test_proxys_address_is_the_clients(settings):
    settings.BEHIND_TLS_PROXY = True

    named = caller(PATH, "HTTP_X_FORWARDED_FOR", "192.0.2.9, 198.51.100.7").name

    assert named == "address 198.51.100.7"
