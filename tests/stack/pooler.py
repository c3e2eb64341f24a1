"""PgBouncer in transaction mode, from the system's package, which is installed where the tests run as root."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from config.stack import roles
from config.stack.ports import LOOPBACK, find_free_port
from config.stack.privileges import find_service_user
from config.stack.processes import Service
from tests.embedded import ROLE_PASSWORD

# Fewer than the programs have threads, so that transactions of several clients share each of them.
SERVER_CONNECTIONS = 3

_INSTALL = ("apt-get", "install", "--yes", "--no-install-recommends", "pgbouncer")
_ADMIN = "pooler_admin"


@cache
def find_pgbouncer() -> str:
    """Return the program's path. Skips the test, with the reason, if it is missing and can't be installed."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
    if found := shutil.which("pgbouncer", path=path):
        return found
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        pytest.skip("PgBouncer is missing. As root, on Debian, the tests install it.")
    done = subprocess.run(
        _INSTALL,
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    found = shutil.which("pgbouncer", path=path)
    if not found:
        pytest.skip(f"PgBouncer is missing and can't be installed: {done.stderr.strip()[-300:]}")
    return found


@contextmanager
def pooling(directory: Path, *, database: str) -> Iterator["Pooler"]:
    """Run PgBouncer in front of a database of the suite's server."""
    program = find_pgbouncer()
    pooler = Pooler(port=find_free_port(), database=database)
    directory.mkdir(exist_ok=True)
    settings, users = directory / "pgbouncer.ini", directory / "users.txt"
    users.write_text(f'"{roles.APP}" "{ROLE_PASSWORD}"\n"{_ADMIN}" "{ROLE_PASSWORD}"\n')
    settings.write_text(pooler.compose_settings(users))
    user = find_service_user()
    for path in (directory, settings, users):
        if user:
            os.chown(path, user.uid, user.gid)
    service = Service(
        name="pgbouncer",
        command=[program, str(settings)],
        log=directory.with_suffix(".log"),
        is_ready=pooler.answers,
        user=user,
    )
    service.start()
    try:
        service.wait_until_ready(seconds=60)
        yield pooler
    finally:
        service.stop()


class Pooler:
    def __init__(self, *, port: int, database: str) -> None:
        self.port = port
        self.database = database

    def compose_settings(self, users: Path) -> str:
        server = urlsplit(os.environ["TEST_DATABASE_SUPERUSER_URL"])
        return f"""
[databases]
{self.database} = host={server.hostname} port={server.port or 5432}
[pgbouncer]
listen_addr = {LOOPBACK}
listen_port = {self.port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
admin_users = {_ADMIN}
pool_mode = transaction
default_pool_size = {SERVER_CONNECTIONS}
max_client_conn = 500
"""

    @property
    def url(self) -> str:
        """The address of the database by way of the pooler, for the serving role."""
        return f"postgres://{roles.APP}:{ROLE_PASSWORD}@{LOOPBACK}:{self.port}/{self.database}"

    def answers(self) -> bool:
        try:
            self.show("VERSION")
        except psycopg.Error:
            return False
        return True

    def show(self, what: str) -> list[dict[str, str]]:
        """Ask PgBouncer's own console, such as for its POOLS."""
        url = f"postgres://{_ADMIN}:{ROLE_PASSWORD}@{LOOPBACK}:{self.port}/pgbouncer"
        # The console knows no prepared statements and no transactions.
        with (
            psycopg.connect(url, autocommit=True, connect_timeout=5) as console,
            psycopg.ClientCursor(console, row_factory=psycopg.rows.dict_row) as cursor,
        ):
            return cursor.execute(f"SHOW {what}").fetchall()
