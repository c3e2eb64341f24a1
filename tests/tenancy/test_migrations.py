"""Isolation is made and unmade by the migrations alone, over the owner's connection."""

import os
import subprocess
import sys
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.conf import settings
from psycopg import sql

from tests.embedded import TEMPLATE
from tests.rows import account_owned_models
from tests.tenancy.catalogue import violations

pytestmark = pytest.mark.usefixtures("django_db_setup")


def on_database(url, name):
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


@pytest.fixture
def scratch():
    """The environment of a database of its own, as freshly migrated."""
    name = urlsplit(os.environ["DATABASE_URL"]).path.strip("/") + "_scratch"
    with psycopg.connect(os.environ["TEST_DATABASE_SUPERUSER_URL"], autocommit=True) as superuser:
        copy = sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER commerce_owner")
        superuser.execute(copy.format(sql.Identifier(name), sql.Identifier(TEMPLATE)))
        yield {
            variable: on_database(os.environ[variable], name)
            for variable in ("DATABASE_URL", "DATABASE_OWNER_URL")
        }
        superuser.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def migrate(environment, *arguments):
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0", *arguments],
        cwd=settings.BASE_DIR,
        env=os.environ | environment,
        check=True,
        capture_output=True,
    )


def tables(connection):
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    return {name for (name,) in rows}


def test_migrations_reverse_and_isolate_again(scratch):
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
