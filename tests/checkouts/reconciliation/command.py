"""Helpers for the tests of `manage.py reconcile`."""

import os
from io import StringIO
from urllib.parse import urlsplit

import psycopg
from django.core.management import CommandError, call_command

from tests.migrations import on_database


def run(*handles):
    """Run the command; return its lines, and whether it found no differences."""
    out = StringIO()
    try:
        call_command("reconcile", *handles, stdout=out, stderr=StringIO())
    except CommandError as error:
        return [*out.getvalue().splitlines(), str(error)], False
    return out.getvalue().splitlines(), True


def reconcile(shop):
    """Return the lines about the shop."""
    lines, is_well = run(shop.handle)
    assert is_well == (len(lines) == 1)
    return [line.removeprefix(f"{shop.handle}: ") for line in lines[:-1]]


def difference(shop):
    """Return the only difference in the shop's books."""
    (line,) = reconcile(shop)
    return line


def damage(shop, *statements, **values):
    """Change the shop's rows past every trigger and reference, as somebody with the whole database could.

    For tests with transactions of their own. The statements name `%(shop)s`, and the values by their names.
    """
    url = on_database(
        os.environ["TEST_DATABASE_SUPERUSER_URL"], urlsplit(os.environ["DATABASE_URL"]).path.strip("/")
    )
    with psycopg.connect(url) as superuser:
        superuser.execute("SET session_replication_role = replica")
        for statement in statements:
            assert superuser.execute(statement, {"shop": shop.id, **values}).rowcount, statement
