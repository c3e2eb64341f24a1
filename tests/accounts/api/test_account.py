"""accounts/{id_or_handle}.json: reading, changing, archiving and suspending."""

import pytest
from django.utils import timezone

from accounts.models import Account
from accounts.operations import set_suspended
from commerce.inventory.models import Location
from commerce.tenancy.scope import workspace_scope
from tests.problems import field_errors, problem
from tests.threads import run_threads


def accounts(shop, query=""):
    return shop.workspace.get(f"accounts.json{query}").json()["accounts"]


def test_retrieve_takes_id_or_handle(shop):
    by_handle = shop.workspace.get(f"accounts/{shop.handle}.json").json()["account"]
    by_id = shop.workspace.get(f"accounts/{shop.id}.json").json()["account"]

    assert by_id == by_handle
    assert by_id["id"] == str(shop.id)


@pytest.mark.parametrize("name", ["no-such-shop", "999999999999", "9" * 30, "0", "%D9%A1", "SHOP", "a_b"])
def test_retrieve_of_an_unknown_account_is_not_found(shop, name):
    assert problem(shop.workspace.get(f"accounts/{name}.json")) == (404, "not_found")


def test_retrieve_of_another_workspaces_account_is_not_found(shop, other_shop):
    for name in (other_shop.id, other_shop.handle):
        assert problem(shop.workspace.get(f"accounts/{name}.json")) == (404, "not_found")


def test_retrieve_shows_an_archived_account(shop):
    shop.workspace.delete(f"accounts/{shop.handle}.json")

    account = shop.workspace.get(f"accounts/{shop.handle}.json").json()["account"]

    assert account["status"] == "archived"
    assert account["archived_at"].endswith("Z")


def test_update_changes_what_was_sent_and_counts_the_version(shop):
    before = shop.workspace.get(f"accounts/{shop.id}.json").json()["account"]

    response = shop.workspace.put(
        f"accounts/{shop.id}.json", {"expected_version": 1, "name": "New", "vat_number": "DE1"}
    )

    after = response.json()["account"]
    assert response.status_code == 200
    assert after == before | {
        "name": "New",
        "vat_number": "DE1",
        "version": 2,
        "updated_at": after["updated_at"],
    }
    assert after["updated_at"] > before["updated_at"]


def test_update_without_a_change_counts_the_version_too(shop):
    response = shop.workspace.put(f"accounts/{shop.id}.json", {"expected_version": 1})

    assert response.json()["account"]["version"] == 2


def test_update_clears_what_may_be_null(shop):
    path = f"accounts/{shop.id}.json"
    given = {"country_code": "CZ", "vat_number": "CZ12345678", "email_from": "tea@example.com"}
    shop.workspace.put(path, given | {"expected_version": 1})

    account = shop.workspace.put(path, dict.fromkeys(given) | {"expected_version": 2}).json()["account"]

    assert (account["country_code"], account["vat_number"], account["email_from"]) == (None, None, None)


def test_update_with_a_stale_version_is_refused_and_changes_nothing(shop):
    shop.workspace.put(f"accounts/{shop.id}.json", {"expected_version": 1, "name": "First"})

    response = shop.workspace.put(f"accounts/{shop.id}.json", {"expected_version": 1, "name": "Second"})

    assert problem(response) == (409, "version_conflict")
    assert response.json()["current_version"] == 2
    assert [account["name"] for account in accounts(shop)] == ["First"]


@pytest.mark.parametrize(
    ("version", "code"),
    [(None, "null"), ("1", "invalid"), (1.0, "invalid"), (True, "invalid"), (0, "min_value")],
)
def test_update_with_no_version_is_refused(shop, version, code):
    response = shop.workspace.put(f"accounts/{shop.id}.json", {"expected_version": version, "name": "New"})

    assert field_errors(response) == {("expected_version", code)}


def test_update_without_the_version_is_refused_and_changes_nothing(shop):
    response = shop.workspace.put(f"accounts/{shop.id}.json", {"name": "New"})

    assert field_errors(response) == {("expected_version", "required")}
    assert accounts(shop)[0]["version"] == 1


def test_update_never_changes_handle_status_or_workspace(shop, other_shop):
    sent = {
        "expected_version": 1,
        "handle": "other",
        "status": "archived",
        "workspace_id": str(other_shop.workspace_id),
        "archived_at": "2026-01-01T00:00:00Z",
    }

    account = shop.workspace.put(f"accounts/{shop.id}.json", sent).json()["account"]

    assert (account["handle"], account["status"], account["archived_at"]) == (shop.handle, "active", None)
    assert account["workspace_id"] == str(shop.workspace_id)


def test_update_of_an_archived_account_is_not_found(shop):
    shop.workspace.delete(f"accounts/{shop.id}.json")

    response = shop.workspace.put(f"accounts/{shop.id}.json", {"expected_version": 2, "name": "New"})

    assert problem(response) == (404, "not_found")


@pytest.mark.django_db(transaction=True)
def test_updates_at_once_of_one_version_are_done_once(shop):
    def rename(index):
        return shop.workspace.put(
            f"accounts/{shop.id}.json", {"expected_version": 1, "name": f"Name {index}"}
        )

    responses = run_threads(8, rename)

    done = [response.json()["account"]["name"] for response in responses if response.status_code == 200]
    refused = [response.json() for response in responses if response.status_code != 200]
    assert len(done) == 1
    assert {(document["code"], document["current_version"]) for document in refused} == {
        ("version_conflict", 2)
    }
    assert [account["name"] for account in accounts(shop)] == done


def test_delete_archives_and_answers_the_same_again(shop):
    first = shop.workspace.delete(f"accounts/{shop.handle}.json")
    second = shop.workspace.delete(f"accounts/{shop.id}.json")

    account = first.json()["account"]
    assert (first.status_code, second.status_code) == (200, 200)
    assert (account["status"], account["version"]) == ("archived", 2)
    assert second.json() == first.json()


def test_delete_takes_the_shop_off_both_surfaces_at_once(shop):
    assert shop.admin.get("markets.json").status_code == 200
    assert shop.storefront.get("markets.json").status_code == 200

    shop.workspace.delete(f"accounts/{shop.handle}.json")

    assert problem(shop.admin.get("markets.json")) == (404, "not_found")
    assert problem(shop.workspace.get(f"{shop.handle}/markets.json")) == (404, "not_found")
    assert problem(shop.storefront.get("markets.json")) == (401, "unauthenticated")


def test_delete_keeps_the_rows(shop):
    shop.workspace.delete(f"accounts/{shop.handle}.json")

    with workspace_scope(shop.workspace_id):
        assert Account.objects.get().handle == shop.handle
    with shop.scope():
        assert Location.objects.count() == 1


@pytest.fixture
def suspend(shop, django_capture_on_commit_callbacks):
    """Suspend or reactivate the shop; return whether that changed anything."""

    def run(*, suspended):
        with django_capture_on_commit_callbacks(execute=True), workspace_scope(shop.workspace_id):
            account = Account.objects.get(pk=shop.id)
            return set_suspended(account_id=account.pk, suspended=suspended, now=timezone.now())

    return run


def test_suspended_account_is_forbidden_on_both_surfaces_until_it_is_back(shop, suspend):
    clients = (shop.admin, shop.storefront)

    assert suspend(suspended=True) is True
    assert [problem(client.get("markets.json")) for client in clients] == [(403, "account_suspended")] * 2
    assert problem(shop.workspace.get(f"{shop.handle}/markets.json")) == (403, "account_suspended")
    assert accounts(shop)[0]["status"] == "suspended"

    assert suspend(suspended=False) is True
    assert [client.get("markets.json").status_code for client in clients] == [200, 200]


def test_suspended_account_is_still_its_workspaces_to_change_and_archive(shop, suspend):
    suspend(suspended=True)

    changed = shop.workspace.put(f"accounts/{shop.id}.json", {"expected_version": 2, "name": "New"})
    archived = shop.workspace.delete(f"accounts/{shop.id}.json")

    assert (changed.json()["account"]["status"], changed.json()["account"]["version"]) == ("suspended", 3)
    assert archived.json()["account"]["status"] == "archived"


def test_archived_account_can_not_be_suspended_or_brought_back(shop, suspend):
    shop.workspace.delete(f"accounts/{shop.id}.json")

    assert suspend(suspended=True) is False
    assert suspend(suspended=False) is False
    assert accounts(shop, "?include_archived=true")[0]["status"] == "archived"
