"""The serving role has no dangerous rights, and serving with another role is reported."""

import os

import psycopg
import pytest
from django.core.checks import Error
from django.db import connection
from django.db.utils import ConnectionHandler
from django.test import Client
from environ import Env

from commerce.tenancy import checks
from commerce.tenancy.roles import bypass_reasons
from tests.tenancy.expectations import APPEND_ONLY_TABLES

OWNS = "it owns tables, or is a member of the role that does"


@pytest.fixture
def served_as(request, django_db_blocker):
    """Make the default connection use the role of the URL in this environment variable."""

    def handler(variable):
        url = Env.db_url_config(os.environ[variable])
        # The superuser's URL names the server's default database.
        handler = ConnectionHandler({"default": url | {"NAME": connection.settings_dict["NAME"]}})
        request.addfinalizer(handler.close_all)
        return handler

    with django_db_blocker.unblock():
        yield handler


def test_serving_role_can_not_bypass_policies(db):
    assert bypass_reasons(connection) == []
    assert checks.check_serving_role(databases=["default"]) == []


@pytest.mark.parametrize(
    ("variable", "reasons"),
    [
        ("DATABASE_OWNER_URL", [OWNS]),
        ("TEST_DATABASE_SUPERUSER_URL", ["it is a superuser", "it has BYPASSRLS", OWNS]),
    ],
)
def test_serving_role_that_could_bypass_policies_is_reported(served_as, monkeypatch, variable, reasons):
    monkeypatch.setattr(checks, "connections", served_as(variable))

    assert checks.check_serving_role(databases=["default"]) == [
        Error(f"The serving database role could bypass row-level security: {reason}.", id="tenancy.E001")
        for reason in reasons
    ]


def test_serving_role_is_not_looked_at_without_the_database(served_as, monkeypatch):
    monkeypatch.setattr(checks, "connections", served_as("DATABASE_OWNER_URL"))

    assert checks.check_serving_role(databases=None) == []


def test_readyz_refuses_a_role_that_could_bypass_policies(served_as, monkeypatch):
    monkeypatch.setattr("config.health.connections", served_as("DATABASE_OWNER_URL"))

    response = Client().get("/readyz")

    assert response.status_code == 503
    assert response.json()["failures"] == [
        f"The serving database role could bypass row-level security: {OWNS}."
    ]


def test_readyz_with_the_serving_role(db):
    response = Client().get("/readyz")

    assert response.status_code == 200
    assert response.json() == {"status": "ok", "failures": [], "redis": "ok", "late_tasks": []}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}"])
def test_append_only_tables_refuse_their_owner_too(shop, rows, statement):
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as owner:
        owner.execute(f"SET commerce.account_id = '{shop.id}'")
        for table in sorted(APPEND_ONLY_TABLES):
            with (
                pytest.raises(psycopg.errors.RestrictViolation, match=f"{table} is append-only"),
                owner.transaction(),
            ):
                owner.execute(statement.format(table))


@pytest.mark.django_db(transaction=True)
def test_owner_sees_nothing_without_a_scope(shop, rows):
    # The last four also have policies for the resolver role; the owner is a member of it, but inherits nothing.
    tables = ("markets", "accounts", "api_keys", "checkouts", "outbox_dispatches")

    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as owner:
        counts = [owner.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables]

    assert counts == [(0,)] * 5
