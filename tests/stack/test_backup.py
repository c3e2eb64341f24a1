"""A backup by the documented commands, restored into another server, has everything: rows, roles and their isolation."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings

from config.stack import roles
from config.stack.postgres import Cluster, find_programs
from tests import factories
from tests.discounts.vouchers.cards import make_voucher
from tests.embedded import ROLE_PASSWORD
from tests.storefront import checkout_in

SECTION = re.compile(r"^## Backups\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)

# What decides who may see and do what.
RIGHTS = {
    "policies": "SELECT tablename, policyname, permissive, roles::text, cmd, qual, with_check FROM pg_policies ORDER BY 1, 2",
    "tables": """
        SELECT relname, relowner::regrole::text, relrowsecurity, relforcerowsecurity, relacl::text
          FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'S') ORDER BY 1
    """,
    "columns": """
        SELECT attrelid::regclass::text, attname, attacl::text FROM pg_attribute
         WHERE attacl IS NOT NULL AND attrelid::regclass::text NOT LIKE 'pg_%' ORDER BY 1, 2
    """,
    "functions": """
        SELECT oid::regprocedure::text, proowner::regrole::text, prosecdef, proconfig::text, proacl::text
          FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1
    """,
    "triggers": "SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2",
    # By name: PostgreSQL writes the same expression in another way after a restore.
    "constraints": """
        SELECT conrelid::regclass::text, conname, contype, convalidated FROM pg_constraint
         WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2
    """,
    "indexes": """
        SELECT indexrelid::regclass::text, indrelid::regclass::text, indisunique, indisvalid
          FROM pg_index WHERE indrelid::regclass::text NOT LIKE 'pg_%' ORDER BY 1
    """,
    "schema": "SELECT nspowner::regrole::text, nspacl::text FROM pg_namespace WHERE nspname = 'public'",
    "defaults": "SELECT defaclrole::regrole::text, defaclobjtype, defaclacl::text FROM pg_default_acl ORDER BY 1, 2",
}


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A database, as its superuser and by address."""

    superuser_url: str
    name: str

    @property
    def url(self) -> str:
        return f"{self.superuser_url.rpartition('/')[0]}/{self.name}"

    def role_url(self, role: str) -> str:
        server = urlsplit(self.superuser_url)
        return f"postgres://{role}:{ROLE_PASSWORD}@{server.hostname}:{server.port or 5432}/{self.name}"

    def read(self, sql: str) -> list[tuple]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(sql).fetchall()

    def count_rows(self) -> dict[str, int]:
        names = [name for (name,) in self.read("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        return {name: self.read(f'SELECT count(*) FROM "{name}"')[0][0] for name in sorted(names)}

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        urls = {
            "DATABASE_URL": self.role_url(roles.APP),
            "DATABASE_OWNER_URL": self.role_url(roles.OWNER),
        }
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=settings.BASE_DIR,
            env=os.environ | urls,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def other_server(cluster: Cluster, place: Path, started) -> Iterator[Cluster]:
    service = started(cluster.service(log=place / "log"))
    service.wait_until_ready(seconds=60)
    return cluster


def run_documented(command: str, *, place: Path, copy: Copy, **variables: str) -> None:
    """Run a command of the documentation in a shell, against this database instead of `commerce`."""
    programs = find_programs(copies=place)
    if not (programs / "pg_dump").exists():
        pytest.skip("This PostgreSQL comes without pg_dump.")
    server_url = copy.superuser_url.rpartition("/")[0]
    done = subprocess.run(
        [
            "bash",
            "-euo",
            "pipefail",
            "-c",
            command.replace("$SUPERUSER_URL/commerce", f"$SUPERUSER_URL/{copy.name}"),
        ],
        cwd=place,
        env=os.environ
        | {"SUPERUSER_URL": server_url, "PATH": f"{programs}:{os.environ['PATH']}"}
        | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.mark.django_db(transaction=True)
def test_restored_database_is_the_same_and_as_well_isolated(
    shop, other_shop, place: Path, other_server: Cluster
):
    for one in (shop, other_shop):
        checkout_in("completed", one, (factories.make_variant(one, stock=10), 2))
        make_voucher(one)
    dump, restore = BLOCK.findall(
        SECTION.findall((settings.BASE_DIR / "docs" / "operations.md").read_text())[0]
    )
    source = Copy(
        superuser_url=os.environ["TEST_DATABASE_SUPERUSER_URL"],
        name=urlsplit(os.environ["DATABASE_URL"]).path.removeprefix("/"),
    )
    target = Copy(superuser_url=other_server.superuser_url, name=roles.DATABASE)

    run_documented(dump, place=place, copy=source)
    roles.create_roles(target.superuser_url, owner_password=ROLE_PASSWORD, app_password=ROLE_PASSWORD)
    roles.create_database(target.superuser_url)
    run_documented(restore, place=place, copy=target)

    assert target.count_rows() == source.count_rows()
    assert target.count_rows()["orders"] == 2
    for name, sql in RIGHTS.items():
        assert target.read(sql) == source.read(sql), name
    # The suite's database is a copy, which has no rights of its own.
    assert target.read("SELECT datacl::text FROM pg_database WHERE datname = current_database()") == [
        ("{commerce_owner=CTc/commerce_owner,commerce_app=Tc/commerce_owner}",)
    ]
    reconciled = target.manage("reconcile")
    assert (reconciled.returncode, reconciled.stdout) == (0, "no differences in 2 accounts\n"), (
        reconciled.stderr
    )
    assert target.manage("migrate", "--check").returncode == 0
    with psycopg.connect(target.role_url(roles.APP)) as app:
        assert app.execute("SELECT count(*) FROM orders").fetchone() == (0,)
        app.execute(f"SET LOCAL commerce.account_id = '{shop.id}'")
        assert app.execute("SELECT DISTINCT account_id FROM orders").fetchall() == [(shop.id,)]
