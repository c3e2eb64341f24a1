"""Without the application's filters: what the database alone shows and refuses."""

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.scope import workspace_scope
from tests.rows import account_owned_models, make_row
from tests.tenancy.expectations import APPEND_ONLY_TABLES

MODELS = account_owned_models()
TABLES = [model._meta.db_table for model in MODELS]
REFERENCES = [
    pytest.param(model, field, id=f"{model._meta.db_table}.{field.column}")
    for model in MODELS
    for field in model._meta.local_fields
    if isinstance(field, AccountForeignKey)
]

# Values that a row needs, so that its reference is checked before another constraint refuses it.
COMPANIONS = {
    "carts_merged_into_id_fk": {"status": "merged"},
    "checkouts_market_id_fk": {"phase": "abandoned"},
    "checkouts_customer_id_fk": {"phase": "abandoned"},
    "discount_redemptions_customer_id_fk": {"kind": "reversal", "amount_cents": -1},
    "discounts_voucher_id_fk": {"type": "gift_card", "code": "GIFT"},
    "checkouts_order_id_fk": {"phase": "completed", "completed_at": datetime.now(UTC)},
}


def fetch(sql, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()


def row_counts(tables):
    return [fetch(f"SELECT count(*) FROM {table}")[0][0] for table in tables]


def execute(sql, *parameters):
    """Execute a statement and return the number of changed rows."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.rowcount


def test_select_without_filter_sees_one_account_only(shop, other_shop, rows, other_rows):
    for viewer in (shop, other_shop):
        with viewer.scope():
            seen = {table: fetch(f"SELECT DISTINCT account_id FROM {table}") for table in TABLES}

        assert seen == {table: [(viewer.id,)] for table in TABLES}


def test_select_outside_of_a_scope_sees_nothing(rows, other_rows):
    assert row_counts(TABLES) == [0] * len(TABLES)


def test_select_in_a_workspace_scope_sees_the_directory_and_no_rows(shop, other_shop, rows, other_rows):
    with workspace_scope(shop.workspace_id):
        assert row_counts(TABLES) == [0] * len(TABLES)
        assert fetch("SELECT id FROM accounts") == [(shop.id,)]
        assert fetch("SELECT id FROM workspaces") == [(shop.workspace_id,)]
        assert fetch("SELECT DISTINCT workspace_id FROM api_keys") == [(shop.workspace_id,)]


def test_directory_in_an_account_scope_shows_that_account_alone(shop, other_shop, make_shop):
    make_shop(workspace_id=shop.workspace_id)

    with shop.scope():
        assert fetch("SELECT id FROM accounts") == [(shop.id,)]
        assert fetch("SELECT id FROM workspaces") == []
        assert fetch("SELECT DISTINCT account_id FROM api_keys") == [(shop.id,)]


def test_directory_outside_of_a_scope_shows_nothing(shop, other_shop):
    tables = ("workspaces", "accounts", "api_keys", "staff_memberships", "workspace_idempotency_records")

    assert row_counts(tables) == [0] * 5


@pytest.mark.parametrize("table", sorted(set(TABLES) - APPEND_ONLY_TABLES))
def test_update_without_filter_changes_one_account_only(shop, other_shop, rows, other_rows, table):
    with shop.scope():
        assert execute(f"UPDATE {table} SET id = id") == row_counts([table])[0] == 1


@pytest.mark.parametrize("model", MODELS, ids=TABLES)
def test_insert_for_another_account_is_refused(shop, other_shop, other_rows, model):
    with shop.scope(), pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        make_row(model, dict(other_rows), account_id=other_shop.id)

    with other_shop.scope():
        assert row_counts([model._meta.db_table]) == [1]


@pytest.mark.parametrize("table", sorted(set(TABLES) - APPEND_ONLY_TABLES))
def test_move_to_another_account_is_refused(shop, other_shop, rows, table):
    with shop.scope(), pytest.raises(ProgrammingError, match="row-level security"):
        execute(f"UPDATE {table} SET account_id = %s", other_shop.id)


@pytest.mark.parametrize(("model", "field"), REFERENCES)
def test_reference_to_another_accounts_row_is_refused(shop, rows, other_rows, model, field):
    constraint = f"{model._meta.db_table}_{field.column}_fk"
    values = {field.attname: other_rows[field.related_model].pk} | COMPANIONS.get(constraint, {})

    with shop.scope(), pytest.raises(IntegrityError) as refused, transaction.atomic():
        make_row(model, dict(rows), **values)

    assert refused.value.__cause__.diag.constraint_name == constraint


def test_key_of_a_workspace_for_another_ones_account_is_refused(shop, other_shop):
    sql = """
        INSERT INTO api_keys (workspace_id, account_id, kind, name, prefix, secret_hash, scopes, created_at)
        VALUES (%s, %s, 'admin', 'Thief', 'sk_', '\\x00', '{}', now())
    """

    with (
        workspace_scope(shop.workspace_id),
        pytest.raises(IntegrityError, match="api_keys_account_of_workspace"),
    ):
        execute(sql, shop.workspace_id, other_shop.id)


def test_account_can_not_be_given_to_another_workspace(shop, other_shop):
    give_away = "UPDATE accounts SET workspace_id = %s WHERE id = %s"

    with workspace_scope(shop.workspace_id), pytest.raises(ProgrammingError, match="row-level security"):
        execute(give_away, other_shop.workspace_id, shop.id)
    with shop.scope(), pytest.raises(IntegrityError, match="api_keys_account_of_workspace"):
        execute(give_away, other_shop.workspace_id, shop.id)


@pytest.mark.parametrize("table", sorted(APPEND_ONLY_TABLES))
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}", "TRUNCATE {}"])
def test_append_only_table_refuses_the_serving_role(shop, rows, table, statement):
    with shop.scope(), pytest.raises(ProgrammingError, match="permission denied"):
        execute(statement.format(table))
