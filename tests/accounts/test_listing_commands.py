"""accounts and staff: who and what is in an installation."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import StaffMembership, User
from accounts.queries import current_account
from tests.factories import make_dispatch


def run(*arguments):
    out = StringIO()
    call_command(*map(str, arguments), stdout=out)
    return out.getvalue().splitlines()


def run_json(*arguments):
    return [json.loads(line) for line in run(*arguments, "--json")]


def test_accounts_of_all_workspaces_are_listed(shop, other_shop):
    expected = []
    for one in (shop, other_shop):
        with one.scope():
            name = current_account().name
        expected.append(f"{one.id}\t{one.handle}\tactive\t{one.workspace_id}\t{name}")

    assert run("accounts") == expected
    assert run("accounts", other_shop.handle) == expected[1:]
    assert run("accounts", "--workspace", shop.workspace_id) == expected[:1]
    assert run("accounts", "--status", "suspended") == []


def test_suspended_account_is_found_by_its_status(shop, other_shop, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        call_command("suspend_account", str(shop.workspace_id), shop.handle, stdout=StringIO())

    assert [row["handle"] for row in run_json("accounts", "--status", "suspended")] == [shop.handle]


def test_counts_are_those_of_each_account(shop, other_shop):
    make_dispatch(shop, status="dead")
    make_dispatch(shop, status="pending")
    make_dispatch(other_shop, status="pending")

    rows = run_json("accounts", "--counts")

    assert [(row["id"], row["pending_dispatches"], row["dead_dispatches"]) for row in rows] == [
        (str(shop.id), 1, 1),
        (str(other_shop.id), 1, 0),
    ]
    assert [(row["orders"], row["customers"], row["last_order_at"]) for row in rows] == [(0, 0, None)] * 2
    assert run("accounts", shop.handle, "--counts")[0].endswith("\t0\t0\t1\t1\t-")


def test_unknown_account_is_an_error(shop):
    with pytest.raises(CommandError, match="'no-shop' doesn't exist"):
        run("accounts", "no-shop")


def test_staff_is_added_listed_and_removed(shop, other_shop):
    user = User.objects.create_user("ada")
    User.objects.create_superuser("root", password="a long password")

    assert run("staff", "add", shop.handle, "ada", "--role", "owner") == [f"{shop.handle}: ada owner"]
    assert run("staff", "add", shop.handle, "ada", "--role", "owner") == [f"{shop.handle}: ada unchanged"]
    assert run("staff", "add", other_shop.handle, "ada", "--role", "support") == [
        f"{other_shop.handle}: ada support"
    ]

    assert run("staff", "list", shop.handle) == [f"{shop.handle}\tada\towner\tactive\t-"]
    assert [(row["account"], row["username"], row["role"]) for row in run_json("staff", "list")] == [
        (shop.handle, "ada", "owner"),
        (other_shop.handle, "ada", "support"),
        (None, "root", "operator"),
    ]

    with pytest.raises(CommandError, match="The shop needs an owner"):
        run("staff", "remove", shop.handle, "ada")
    User.objects.create_user("bea")
    run("staff", "add", shop.handle, "bea", "--role", "owner")
    assert run("staff", "remove", shop.handle, "ada") == [f"{shop.handle}: ada removed"]
    assert run("staff", "remove", shop.handle, "ada") == [f"{shop.handle}: ada unchanged"]
    assert run("staff", "list", shop.handle) == [f"{shop.handle}\tbea\towner\tactive\t-"]
    with other_shop.scope():
        assert StaffMembership.objects.get(account_id=other_shop.id).user_id == user.pk


def test_role_of_a_member_is_changed(shop):
    User.objects.create_user("ada")
    run("staff", "add", shop.handle, "ada", "--role", "support")

    assert run("staff", "add", shop.handle, "ada", "--role", "owner") == [f"{shop.handle}: ada owner"]
    assert run("staff", "list", shop.handle) == [f"{shop.handle}\tada\towner\tactive\t-"]


def test_unknown_role_is_not_given(shop):
    User.objects.create_user("ada")

    for role in ("boss", "999"):
        with pytest.raises(CommandError, match="The shop has no such role"):
            run("staff", "add", shop.handle, "ada", "--role", role)

    assert run("staff", "list", shop.handle) == []


def test_unknown_user_is_not_added(shop):
    with pytest.raises(CommandError, match="There is no user 'eve'"):
        run("staff", "add", shop.handle, "eve", "--role", "owner")

    assert run("staff", "list", shop.handle) == []
