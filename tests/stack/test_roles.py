"""The roles on the suite's server, and as the script creates them on another one."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from config.stack import roles
from config.stack.postgres import Cluster, find_programs
from tests.embedded import ROLE_PASSWORD


@pytest.fixture
def database() -> Iterator[str]:
    """Create an empty database for this test; yield its name."""
    name = urlsplit(os.environ["DATABASE_URL"]).path.removeprefix("/") + "_roles"
    roles.create_database(_superuser_url(), name=name)
    yield name
    with psycopg.connect(_superuser_url(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_no_role_has_more_rights_than_it_needs():
    with psycopg.connect(_superuser_url()) as connection:
        rows = connection.execute(
            "SELECT rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole FROM pg_roles"
            " WHERE rolname LIKE 'commerce_%' ORDER BY rolname"
        ).fetchall()

    assert rows == [
        ("commerce_app", True, False, False, False, False),
        ("commerce_owner", True, False, False, False, False),
        ("commerce_resolver", False, False, False, False, False),
    ]


def test_roles_made_again_lose_what_was_added(database: str):
    with psycopg.connect(_superuser_url(), autocommit=True) as connection:
        connection.execute("ALTER ROLE commerce_app BYPASSRLS")

    roles.create_roles(_superuser_url(), owner_password=ROLE_PASSWORD, app_password=ROLE_PASSWORD)
    roles.create_database(_superuser_url(), name=database)

    with psycopg.connect(_superuser_url()) as connection:
        row = connection.execute(
            "SELECT rolbypassrls FROM pg_roles WHERE rolname = 'commerce_app'"
        ).fetchone()
    assert row == (False,)


def test_serving_role_uses_the_owners_tables(database: str):
    with _connected("commerce_owner", database) as owner:
        owner.execute("CREATE TABLE thing (id bigint GENERATED ALWAYS AS IDENTITY, name text)")

    with _connected("commerce_app", database) as app:
        app.execute("INSERT INTO thing (name) VALUES ('a')")
        app.execute("UPDATE thing SET name = 'b'")
        rows = app.execute("SELECT id, name FROM thing").fetchall()
        app.execute("DELETE FROM thing")
        left = app.execute("SELECT count(*) FROM thing").fetchone()
    assert rows == [(1, "b")]
    assert left == (0,)


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE thing",
        "ALTER TABLE thing ADD extra text",
        "DROP TABLE thing",
        "CREATE TABLE other (id bigint)",
        "SELECT secret()",
        "SET ROLE commerce_owner",
    ],
)
def test_serving_role_may_do_no_more(database: str, statement: str):
    with _connected("commerce_owner", database) as owner:
        owner.execute("CREATE TABLE thing AS SELECT 7 AS number")
        owner.execute("CREATE FUNCTION secret() RETURNS int LANGUAGE sql RETURN 7")

    with _connected("commerce_app", database) as app, pytest.raises(psycopg.errors.InsufficientPrivilege):
        app.execute(statement)

    with _connected("commerce_owner", database) as owner:
        assert owner.execute("TABLE thing").fetchall() == [(7,)]


def test_serving_role_stages_rows_in_a_table_of_its_own_session(database: str):
    with _connected("commerce_app", database) as app, _connected("commerce_app", database) as other:
        app.execute("CREATE TEMPORARY TABLE staged AS SELECT 7 AS number")
        app.commit()

        assert app.execute("TABLE staged").fetchall() == [(7,)]
        with pytest.raises(psycopg.errors.UndefinedTable):
            other.execute("TABLE staged")


def test_owner_hands_a_function_to_the_resolver(database: str):
    with _connected("commerce_owner", database) as owner:
        owner.execute("CREATE FUNCTION who() RETURNS text LANGUAGE sql SECURITY DEFINER RETURN current_user")
        owner.execute("GRANT EXECUTE ON FUNCTION who() TO commerce_app")

        owner.execute("ALTER FUNCTION who() OWNER TO commerce_resolver")

    with _connected("commerce_app", database) as app:
        assert app.execute("SELECT who()").fetchone() == ("commerce_resolver",)


def test_script_for_an_administrator_makes_the_same(cluster: Cluster, place: Path, started):
    started(cluster.service(log=place / "log")).wait_until_ready(seconds=20)
    psql = find_programs(copies=place) / "psql"
    if not psql.exists():
        pytest.skip("This PostgreSQL comes without psql.")

    passwords = ["-v", "owner_password=of the owner", "-v", "app_password=of the app"]
    subprocess.run(
        [str(psql), cluster.superuser_url, "--no-psqlrc", "--quiet", "-v", "ON_ERROR_STOP=1", *passwords],
        input=roles.as_script(),
        text=True,
        check=True,
    )

    with psycopg.connect(
        cluster.superuser_url, user="commerce_app", password="of the app", dbname="commerce"
    ) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("commerce_app",)


def _superuser_url() -> str:
    return os.environ["TEST_DATABASE_SUPERUSER_URL"]


def _connected(role: str, database: str) -> psycopg.Connection:
    name = "DATABASE_OWNER_URL" if role == roles.OWNER else "DATABASE_URL"
    return psycopg.connect(urlunsplit(urlsplit(os.environ[name])._replace(path=f"/{database}")))
