"""Embedded PostgreSQL and Redis servers for the tests, started before Django reads its settings.

The main pytest process starts them and migrates one database; each process that runs tests uses a copy of it.
`TEST_DATABASE_SUPERUSER_URL` and `TEST_REDIS_URL` name other servers to use instead.
"""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from config.stack import roles
from config.stack.ports import find_free_port
from config.stack.postgres import Cluster
from config.stack.processes import PROJECT_DIR
from config.stack.redis import RedisServer

TEMPLATE = "commerce_test"
ROLE_PASSWORD = "only-for-tests"
KEPT_TABLES = ("django_migrations", "django_content_type", "auth_permission")


# A wrapper, so that it runs before pytest-django's hook, which imports the settings.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if not worker:
        _start_servers(early_config)
        _migrate_template()
    _use_own_copy(worker)
    return (yield)


def _start_servers(config: pytest.Config) -> None:
    directory = Path(tempfile.mkdtemp(prefix="commerce-tests-"))
    # The servers' user needs access to its folders inside.
    directory.chmod(0o711)
    config.add_cleanup(lambda: shutil.rmtree(directory, ignore_errors=True))
    os.environ["DATA_DIR"] = str(directory)
    if "TEST_DATABASE_SUPERUSER_URL" not in os.environ:
        os.environ["TEST_DATABASE_SUPERUSER_URL"] = _start(
            config, Cluster(data_dir=directory / "postgres", **_reachable())
        )
    if "TEST_REDIS_URL" not in os.environ:
        os.environ["TEST_REDIS_URL"] = _start(
            config, RedisServer(data_dir=directory / "redis", **_reachable())
        )


def _reachable() -> dict:
    return {"port": find_free_port(), "password": secrets.token_urlsafe(24), "is_durable": False}


def _start(config: pytest.Config, server: Cluster | RedisServer) -> str:
    service = server.service(log=server.data_dir.with_suffix(".log"))
    service.start()
    config.add_cleanup(service.stop)
    service.wait_until_ready(seconds=30)
    return server.superuser_url if isinstance(server, Cluster) else server.url()


def _migrate_template() -> None:
    superuser_url = os.environ["TEST_DATABASE_SUPERUSER_URL"]
    roles.create_roles(superuser_url, owner_password=ROLE_PASSWORD, app_password=ROLE_PASSWORD)
    _drop_database(TEMPLATE)
    roles.create_database(superuser_url, name=TEMPLATE)
    _set_environment(database=TEMPLATE, redis_database=0)
    migrate = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0"]
    done = subprocess.run(migrate, cwd=PROJECT_DIR, check=False, capture_output=True, text=True)
    if done.returncode:
        raise pytest.UsageError(f"The test database can't be migrated.\n{done.stdout}{done.stderr}")


def _use_own_copy(worker: str) -> None:
    name = f"{TEMPLATE}_{worker or 'main'}"
    _drop_database(name)
    _run_as_superuser(
        sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}").format(
            sql.Identifier(name), sql.Identifier(TEMPLATE), sql.Identifier(roles.OWNER)
        )
    )
    number = int(worker.removeprefix("gw")) + 1 if worker else 0
    _set_environment(database=name, redis_database=number)


def _drop_database(name: str) -> None:
    _run_as_superuser(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _run_as_superuser(statement: sql.Composed) -> None:
    with psycopg.connect(os.environ["TEST_DATABASE_SUPERUSER_URL"], autocommit=True) as connection:
        connection.execute(statement)


def _set_environment(*, database: str, redis_database: int) -> None:
    data_dir = Path(os.environ["DATA_DIR"])
    mail, static = data_dir / f"mail-{database}", data_dir / "static"
    for folder in (mail, static):
        folder.mkdir(exist_ok=True)
    os.environ |= {
        "DATABASE_URL": _role_url(roles.APP, database=database),
        "DATABASE_OWNER_URL": _role_url(roles.OWNER, database=database),
        "OUTBOX_THREADS": "1",
        # A test is a single transaction, so its duration isn't limited.
        "DATABASE_TRANSACTION_TIMEOUT_S": "0",
        "DATABASE_IDLE_TIMEOUT_S": "0",
        "REDIS_URL": urlunsplit(urlsplit(os.environ["TEST_REDIS_URL"])._replace(path=f"/{redis_database}")),
        "SECRET_KEY": "only-for-tests",
        "DEBUG": "false",
        "ALLOWED_HOSTS": "*",
        "MAIL_DIR": str(mail),
        "STATIC_ROOT": str(static),
        "METRICS_DIR": str(data_dir / f"metrics-{database}"),
        # Nothing listens there, so that no test calls a service outside.
        "VIES_URL": "http://127.0.0.1:9",
    }


def _role_url(role: str, *, database: str) -> str:
    server = urlsplit(os.environ["TEST_DATABASE_SUPERUSER_URL"])
    address = f"{server.hostname}:{server.port or 5432}"
    return urlunsplit(("postgres", f"{role}:{ROLE_PASSWORD}@{address}", f"/{database}", server.query, ""))


def truncate_tables(test_case: object) -> None:
    """Clean up after a transactional test, instead of Django's flush: the serving role may not truncate."""
    from django.db import connections

    # Don't let a transaction that a test left open block the suite.
    options = "-c lock_timeout=10s"
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True, options=options) as connection:
        rows = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> ALL(%s)",
            [list(KEPT_TABLES)],
        )
        tables = sql.SQL(", ").join(sql.Identifier(name) for (name,) in rows)
        connection.execute(sql.SQL("TRUNCATE {}").format(tables))
    connections.close_all()
