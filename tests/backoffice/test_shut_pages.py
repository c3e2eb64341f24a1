"""Every form, dialog and list action is refused to members with a read-only role, and everyone in a suspended shop."""

from uuid import uuid4

import pytest
from django.contrib import admin
from django.db import connection
from django.utils import timezone

from accounts.models import Account, ApiKey, StaffMembership, User
from accounts.operations import set_suspended
from commerce.backoffice.export import list_columns
from commerce.tenancy.models import AccountOwned
from commerce.tenancy.scope import workspace_scope
from tests.backoffice.clients import make_staff
from tests.rows import account_owned_models, make_rows

# Read-only pages, open to read-only users.
LOOKS = {"test_address", "try_discounts", "try_on_cart", "statistics"}
LOOKS |= {"open_prices", "open_compared_prices", "open_stock", "open_grid"}
FIELDS = {
    "_form_submitted": "on",
    "amount_cents": 1,
    "click": str(uuid4()),
    "currency": "EUR",
    "email": "eve@example.com",
    "delta": 5,
    "grace_seconds": 0,
    "ids": 1,
    "initial_balance_cents": 100,
    "kind": "admin",
    "name": "CI",
    "post": "yes",
    "reason": "count",
    "role": "owner",
    "scopes": "read_orders",
}
# Columns of secrets, which no page shows and no export contains.
SECRETS = {"password", "previous_secret", "secret", "secret_hash", "token_hash"}


def path_of(model, *parts):
    return "/".join([model._meta.app_label, model._meta.model_name, *map(str, parts), ""])


def digests(shop):
    """Return a digest of the shop's rows in every table, including the shop itself and its keys."""
    tables = {model._meta.db_table: "account_id" for model in account_owned_models()}
    tables |= {"accounts": "id", "api_keys": "account_id", "staff_memberships": "account_id"}
    found = {}
    with shop.scope(), connection.cursor() as cursor:
        for table, column in tables.items():
            cursor.execute(
                f"SELECT md5(string_agg(t::text, ' ' ORDER BY t.id)) FROM {table} AS t "
                f"WHERE t.{column} = current_account_id()"
            )
            found[table] = cursor.fetchone()[0]
    return found


@pytest.fixture
def rows(shop):
    with shop.scope():
        made = dict(make_rows())
        made[Account] = Account.objects.get(pk=shop.id)
        made[ApiKey] = ApiKey.objects.filter(kind="admin").latest("pk")
    made[User] = make_staff(shop, role="manager").user
    with shop.scope():
        made[StaffMembership] = StaffMembership.objects.latest("pk")
    return made


@pytest.fixture(params=["read_only", "manager of a suspended shop", "owner of a suspended shop"])
def looker(request, shop):
    role = request.param.split()[0]
    client = make_staff(shop, role=role)
    if role != "read_only":
        with workspace_scope(shop.workspace_id):
            set_suspended(account_id=shop.id, suspended=True, now=timezone.now())
    return client


def names(actions):
    return {getattr(action, "__name__", action) for action in actions} - LOOKS


def test_whoever_may_only_look_changes_nothing_by_any_page(shop, rows, looker):
    before = digests(shop)
    open_dialogs = []

    for model, model_admin in admin.site._registry.items():
        pk = rows[model].pk if model in rows else 1
        paths = [path_of(model, pk, action) for action in names(model_admin.actions_detail)]
        paths += [path_of(model, action) for action in names(model_admin.actions_list)]
        paths += [path_of(model, grid.name) for grid in getattr(model_admin, "grids", ())]
        paths += [path_of(model, "bulk", bulk.name) for bulk in getattr(model_admin, "bulk_actions", ())]
        open_dialogs += [path for path in paths if looker.post(path, FIELDS).status_code != 403]
        for path in (path_of(model, "add"), path_of(model, pk, "change"), path_of(model, pk, "delete")):
            looker.post(path, FIELDS)
        for action in names(model_admin.actions) | {"delete_selected"}:
            looker.act(path_of(model), action, pk)

    assert open_dialogs == []
    assert digests(shop) == before


def test_owner_of_an_open_shop_is_let_into_the_same_dialogs(shop, rows, owner):
    shut = {
        action
        for model, model_admin in admin.site._registry.items()
        for action in names(model_admin.actions_detail)
        if owner.post(path_of(model, rows[model].pk if model in rows else 1, action), FIELDS).status_code
        == 403
    }

    assert shut == {"suspend", "lift_suspension"}


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.label)
def test_no_export_holds_a_secret(model):
    exports = {getattr(action, "__name__", action) for action in admin.site._registry[model].actions}
    if not issubclass(model, AccountOwned) or "export_as_csv" not in exports:
        return

    assert SECRETS.isdisjoint(list_columns(model))
