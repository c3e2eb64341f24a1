"""bootstrap, keys and suspend_account: the commands of operators."""

from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from accounts.models import ApiKey, User, Workspace
from commerce.tenancy.scope import workspace_scope
from tests.clients import ApiClient


@pytest.fixture
def run(django_capture_on_commit_callbacks):
    """Run a command and return the lines that it wrote."""

    def call(*arguments):
        out = StringIO()
        with django_capture_on_commit_callbacks(execute=True):
            call_command(*map(str, arguments), stdout=out, stderr=StringIO())
        return out.getvalue().splitlines()

    return call


def parse_lines(lines):
    return dict(line.split(maxsplit=1) for line in lines)


def keys_of(shop):
    with workspace_scope(shop.workspace_id):
        return ApiKey.objects.count()


def test_bootstrap_makes_a_workspace_with_a_key_that_works(db, run):
    made = parse_lines(run("bootstrap", "Tea Traders"))

    client = ApiClient.admin(made["key"])
    assert client.get("accounts.json").json() == {"accounts": [], "next_cursor_id": None}
    body = {"handle": "tea-house", "name": "Tea", "default_currency": "EUR"}
    assert client.post("accounts.json", body).json()["account"]["workspace_id"] == made["workspace"]


def test_bootstrap_makes_a_superuser_on_request(db, run):
    run("bootstrap", "Tea Traders", "--staff-user", "ann", "--staff-password", "a long password")

    user = User.objects.get()
    assert (user.username, user.is_superuser, user.check_password("a long password")) == ("ann", True, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--staff-user", "ann"),
        ("--staff-user", "bob", "--staff-password", "a long password"),
        ("--staff-user", "ann smith", "--staff-password", "a long password"),
        ("--staff-user", "a" * 151, "--staff-password", "a long password"),
    ],
)
def test_bootstrap_with_a_bad_superuser_makes_nothing(db, run, arguments):
    User.objects.create_user("bob")

    with pytest.raises(CommandError):
        run("bootstrap", "Tea Traders", *arguments)

    assert User.objects.count() == 1
    assert Workspace.objects.count() == 0


@pytest.mark.parametrize("kind", ["admin", "storefront", "workspace"])
def test_keys_issue_shows_a_secret_that_works(shop, run, kind):
    account = () if kind == "workspace" else ("--account", shop.handle)

    secret = parse_lines(run("keys", shop.workspace_id, "issue", kind, "App", *account))["key"]

    clients = {
        "admin": ApiClient.admin(secret, shop.handle),
        "workspace": ApiClient.admin(secret, shop.handle),
        "storefront": ApiClient.storefront(secret),
    }
    assert clients[kind].get("markets.json").status_code == 200


def test_keys_issue_takes_scopes_and_expiry(shop, run):
    made = run(
        "keys", shop.workspace_id, "issue", "admin", "App", "--account", shop.handle,
        "--scope", "read_markets", "--scope", "read_orders", "--expires-at", "2040-01-01T00:00:00Z",
    )  # fmt: skip

    with workspace_scope(shop.workspace_id):
        key = ApiKey.objects.get(pk=parse_lines(made)["id"])
    assert (key.scopes, key.expires_at.year) == (["read_markets", "read_orders"], 2040)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("admin", "App"), "need an account"),
        (("workspace", "App", "--account", "SHOP"), "workspace keys have none"),
        (("admin", "App", "--account", "no-shop"), "no account 'no-shop'"),
        (("admin", "App", "--account", "OTHER"), "no account 'shop-"),
        (("storefront", "App", "--account", "SHOP", "--scope", "read_orders"), "have no scopes"),
        (("admin", "App", "--account", "SHOP", "--scope", "read_all"), "invalid choice"),
        (
            ("admin", "x" * 201, "--account", "SHOP"),
            "name: Ensure this field has no more than 200 characters",
        ),
        (("admin", " ", "--account", "SHOP"), "name: This field may not be blank"),
        (
            ("admin", "App", "--account", "SHOP", "--expires-at", "2020-01-01T00:00:00Z"),
            "expires_at: The expiry must be in the future",
        ),
        (("admin", "App", "--account", "SHOP", "--expires-at", "2040-01-01T00:00:00"), "with an offset"),
        (("admin", "App", "--account", "SHOP", "--expires-at", "2040-02-31T00:00:00Z"), "with an offset"),
    ],
)
def test_keys_issue_with_bad_arguments_is_refused(shop, other_shop, run, arguments, complaint):
    names = {"SHOP": shop.handle, "OTHER": other_shop.handle}

    with pytest.raises(CommandError, match=complaint):
        run("keys", shop.workspace_id, "issue", *(names.get(argument, argument) for argument in arguments))

    assert keys_of(shop) == 4


def test_keys_of_an_unknown_workspace_are_refused(db, run):
    with pytest.raises(CommandError, match="doesn't exist"):
        run("keys", uuid4(), "issue", "workspace", "App")


def test_keys_list_shows_the_workspaces_keys_without_secrets(shop, other_shop, run):
    lines = [line.split("\t") for line in run("keys", shop.workspace_id, "list")]

    assert [(kind, owner, state) for _, kind, owner, _, state, _ in lines] == [
        ("workspace", "workspace", "live"),
        ("workspace", "workspace", "live"),
        ("admin", shop.handle, "live"),
        ("storefront", shop.handle, "live"),
    ]


def test_keys_rotate_and_revoke_end_the_old_key(shop, run):
    made = parse_lines(run("keys", shop.workspace_id, "issue", "admin", "App", "--account", shop.handle))

    successor = parse_lines(run("keys", shop.workspace_id, "rotate", made["id"], "--grace", 3600))
    assert run("keys", shop.workspace_id, "revoke", made["id"]) == [f"revoked {made['id']}"]

    assert ApiClient.admin(made["key"], shop.handle).get("markets.json").status_code == 401
    assert ApiClient.admin(successor["key"], shop.handle).get("markets.json").status_code == 200


def test_keys_of_another_workspace_are_out_of_reach(shop, other_shop, run):
    with workspace_scope(other_shop.workspace_id):
        foreign = ApiKey.objects.first()

    for action in ("rotate", "revoke"):
        with pytest.raises(CommandError, match="has no key"):
            run("keys", shop.workspace_id, action, foreign.pk)


def test_keys_rotate_of_a_dead_key_is_refused(shop, run):
    made = parse_lines(run("keys", shop.workspace_id, "issue", "admin", "App", "--account", shop.handle))
    run("keys", shop.workspace_id, "revoke", made["id"])

    with pytest.raises(CommandError, match="revoked or expired"):
        run("keys", shop.workspace_id, "rotate", made["id"])


@pytest.mark.parametrize("grace", ["-1", "31536001", "1" + "0" * 30])
def test_keys_rotate_with_a_grace_period_out_of_bounds_is_refused(shop, run, grace):
    made = parse_lines(run("keys", shop.workspace_id, "issue", "admin", "App", "--account", shop.handle))

    with pytest.raises(CommandError, match="grace_seconds: Must be at"):
        run("keys", shop.workspace_id, "rotate", made["id"], f"--grace={grace}")

    assert keys_of(shop) == 5
    assert ApiClient.admin(made["key"], shop.handle).get("markets.json").status_code == 200


@pytest.mark.parametrize("name", ["", "x" * 201])
def test_bootstrap_with_a_bad_name_makes_nothing(db, run, name):
    with pytest.raises(CommandError, match="name: "):
        run("bootstrap", name, "--staff-user", "ann", "--staff-password", "a long password")

    assert (User.objects.count(), Workspace.objects.count()) == (0, 0)


def test_suspend_account_and_lift(shop, run):
    assert run("suspend_account", shop.workspace_id, shop.handle) == [f"{shop.handle}: suspended"]
    assert run("suspend_account", shop.workspace_id, shop.id) == [f"{shop.handle}: unchanged"]
    assert shop.admin.get("markets.json").status_code == 403

    assert run("suspend_account", shop.workspace_id, shop.handle, "--lift") == [f"{shop.handle}: active"]
    assert shop.admin.get("markets.json").status_code == 200


def test_suspend_account_of_another_workspace_is_refused(shop, other_shop, run):
    with pytest.raises(CommandError, match="has no account"):
        run("suspend_account", shop.workspace_id, other_shop.handle)

    assert other_shop.admin.get("markets.json").status_code == 200


def test_account_that_is_named_by_other_digits_is_not_found(shop, run):
    with pytest.raises(CommandError, match="²"):
        run("suspend_account", shop.workspace_id, "²")
