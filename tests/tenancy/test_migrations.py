"""The migrations create and remove the isolation, over the owner's connection."""

import os

import psycopg
import pytest

from tests.migrations import migrate, scratch  # noqa: F401  a fixture
from tests.rows import account_owned_models
from tests.tenancy.catalogue import violations

pytestmark = pytest.mark.usefixtures("django_db_setup")


def tables(connection):
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    return {name for (name,) in rows}


def test_migrations_reverse_and_isolate_again(scratch):  # noqa: F811
    owned = {model._meta.db_table for model in account_owned_models()}

    with psycopg.connect(scratch["DATABASE_OWNER_URL"], autocommit=True) as owner:
        migrate(scratch, "tenancy", "zero")
        functions = owner.execute("SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace")
        assert tables(owner) & owned == set()
        assert functions.fetchone() == (0,)

        migrate(scratch)
        assert tables(owner) >= owned
        assert violations(owner.cursor()) == []


def test_serving_role_can_not_migrate():
    with psycopg.connect(os.environ["DATABASE_URL"]) as app:
        for statement in (
            "CREATE TABLE stray (id bigint)",
            "ALTER TABLE carts DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE carts NO FORCE ROW LEVEL SECURITY",
            "DROP POLICY account_isolation ON carts",
            "CREATE POLICY wide ON carts USING (true)",
            "ALTER TABLE events DISABLE TRIGGER events_append_only",
            "CREATE OR REPLACE FUNCTION current_account_id() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
            "SET ROLE commerce_owner",
            "SET ROLE commerce_resolver",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), app.transaction():
                app.execute(statement)
