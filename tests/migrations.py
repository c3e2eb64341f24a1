"""A scratch database to migrate back and forth."""

import os
import subprocess
import sys
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.conf import settings
from psycopg import sql

from tests.embedded import TEMPLATE


def on_database(url, name):
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


@pytest.fixture
def scratch():
    """Yield the environment of a freshly migrated scratch database."""
    name = urlsplit(os.environ["DATABASE_URL"]).path.strip("/") + "_scratch"
    with psycopg.connect(os.environ["TEST_DATABASE_SUPERUSER_URL"], autocommit=True) as superuser:
        copy = sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER commerce_owner")
        superuser.execute(copy.format(sql.Identifier(name), sql.Identifier(TEMPLATE)))
        yield {
            variable: on_database(os.environ[variable], name)
            for variable in ("DATABASE_URL", "DATABASE_OWNER_URL")
        } | {"superuser": on_database(os.environ["TEST_DATABASE_SUPERUSER_URL"], name)}
        superuser.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def migrate(environment, *arguments):
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0", *arguments],
        cwd=settings.BASE_DIR,
        env=os.environ | environment,
        check=True,
        capture_output=True,
    )
