"""accounts.json: shops of a workspace."""

import re
from uuid import uuid4

import pytest

from commerce.inventory.models import Location
from tests.problems import field_errors, problem

SHOP = {"handle": "tea-house", "name": "Tea House", "default_currency": "EUR"}
FULL_SHOP = SHOP | {
    "default_locale": "cs-CZ",
    "default_timezone": "Europe/Prague",
    "country_code": "CZ",
    "vat_number": "CZ12345678",
    "email_from": "tea@example.com",
}


def accounts(shop, query=""):
    return shop.workspace.get(f"accounts.json{query}").json()["accounts"]


def test_create_answers_the_whole_account(shop):
    response = shop.workspace.post("accounts.json", FULL_SHOP)

    account = response.json()["account"]
    assert response.status_code == 201
    assert re.fullmatch(r"\d+", account.pop("id"))
    assert account.pop("created_at").endswith("Z")
    assert account.pop("updated_at").endswith("Z")
    assert account == FULL_SHOP | {
        "workspace_id": str(shop.workspace_id),
        "status": "active",
        "version": 1,
        "archived_at": None,
    }


def test_create_fills_in_what_is_not_given(shop):
    account = shop.workspace.post("accounts.json", SHOP).json()["account"]

    assert (account["default_locale"], account["default_timezone"]) == ("en-US", "UTC")
    assert (account["country_code"], account["vat_number"], account["email_from"]) == (None, None, None)


def test_create_gives_the_account_its_first_location(shop):
    shop.workspace.post("accounts.json", SHOP)

    locations = shop.workspace.get("tea-house/locations.json").json()["locations"]
    assert [(location["handle"], location["priority"]) for location in locations] == [("main", 1)]


def test_create_with_a_taken_handle_is_refused_and_makes_nothing(shop, other_shop):
    response = shop.workspace.post("accounts.json", SHOP | {"handle": other_shop.handle})

    assert problem(response) == (409, "handle_taken")
    assert [account["handle"] for account in accounts(shop)] == [shop.handle]
    with other_shop.scope():
        assert Location.objects.count() == 1


def test_create_with_the_handle_of_an_archived_account_is_refused(shop):
    shop.workspace.post("accounts.json", SHOP)
    shop.workspace.delete("accounts/tea-house.json")

    assert problem(shop.workspace.post("accounts.json", SHOP)) == (409, "handle_taken")


@pytest.mark.parametrize(
    ("handle", "code"),
    [
        ("accounts", "reserved"),
        ("shipping", "reserved"),
        ("webhooks", "reserved"),
        ("storefront", "reserved"),
        ("openapi", "reserved"),
        ("123", "needs_letter"),
        ("1-2", "needs_letter"),
        ("a", "invalid_handle"),
        ("-ab", "invalid_handle"),
        ("Tea", "invalid_handle"),
        ("te a", "invalid_handle"),
        ("te_a", "invalid_handle"),
        ("t\u00e9a", "invalid_handle"),
        ("a" * 64, "invalid_handle"),
        ("", "blank"),
    ],
)
def test_create_with_a_handle_of_another_form_is_refused(shop, handle, code):
    assert field_errors(shop.workspace.post("accounts.json", SHOP | {"handle": handle})) == {("handle", code)}


@pytest.mark.parametrize("handle", ["ab", "1a", "a" * 63, "a-", "a--b", "account", "shipping-2"])
def test_create_with_any_other_handle_is_done(shop, handle):
    assert shop.workspace.post("accounts.json", SHOP | {"handle": handle}).status_code == 201


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("name", "", "blank"),
        ("name", "x" * 201, "max_length"),
        ("default_currency", "EURO", "unknown_currency"),
        ("default_currency", "XXX", "unknown_currency"),
        ("default_locale", "de", "invalid_locale"),
        ("default_timezone", "Mars/Olympus", "unknown_time_zone"),
        ("country_code", "XX", "unknown_country"),
        ("country_code", "DEU", "unknown_country"),
        ("vat_number", "x" * 33, "max_length"),
        ("email_from", "nobody", "invalid"),
    ],
)
def test_create_with_a_bad_field_is_refused(shop, field, value, code):
    assert field_errors(shop.workspace.post("accounts.json", SHOP | {field: value})) == {(field, code)}
    assert len(accounts(shop)) == 1


def test_create_without_what_is_required_names_each(shop):
    assert field_errors(shop.workspace.post("accounts.json", {})) == {
        ("handle", "required"),
        ("name", "required"),
        ("default_currency", "required"),
    }


def test_create_ignores_unknown_keys_and_fields_of_the_platform(shop):
    sent = SHOP | {"workspace_id": str(uuid4()), "status": "suspended", "version": 9, "id": 1, "nonsense": []}

    account = shop.workspace.post("accounts.json", sent).json()["account"]

    assert (account["workspace_id"], account["status"], account["version"]) == (
        str(shop.workspace_id),
        "active",
        1,
    )


def test_list_shows_the_workspaces_accounts_newest_first(shop, other_shop, make_shop):
    sister = make_shop(workspace_id=shop.workspace_id)

    assert [account["handle"] for account in accounts(shop)] == [sister.handle, shop.handle]
    assert [account["handle"] for account in accounts(other_shop)] == [other_shop.handle]


def test_list_hides_archived_accounts_unless_asked(shop, make_shop):
    make_shop(workspace_id=shop.workspace_id, handle="old-shop")
    shop.workspace.delete("accounts/old-shop.json")

    assert [account["handle"] for account in accounts(shop)] == [shop.handle]
    assert [account["handle"] for account in accounts(shop, "?include_archived=false")] == [shop.handle]
    assert [account["handle"] for account in accounts(shop, "?include_archived=true")] == [
        "old-shop",
        shop.handle,
    ]


@pytest.mark.parametrize("number", [1, 3])
def test_list_takes_a_fixed_number_of_statements(shop, make_shop, django_assert_num_queries, number):
    for _ in range(number - 1):
        make_shop(workspace_id=shop.workspace_id)
    accounts(shop)

    with django_assert_num_queries(5):  # savepoint, scope, the accounts, savepoint, the scope's end
        assert len(accounts(shop)) == number
