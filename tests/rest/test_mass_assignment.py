"""Members that a body may not set, such as an id, a balance or an account, change nothing, whatever their names."""

import pytest
from django.db import connection, models

from tests.rest.bodies import sample, serializer_of
from tests.rest.routes import rolling_back, routes
from tests.rows import account_owned_models

WRITING = [route for route in routes() if route.takes_body]
NUMBER, TEXT = 987_654_321_012_345, "smuggled-in-7f3a"
# Refused by name, as documented.
REFUSED = {"is_free"}


def columns():
    """Return the column names of all account-owned tables, and names that a client might guess."""
    names = {
        name for model in account_owned_models() for field in fields_of(model) for name in names_of(field)
    }
    return names | {
        "workspace",
        "workspace_id",
        "is_operator",
        "is_superuser",
        "available_cents",
        "principal",
    }


def fields_of(model):
    return model._meta.concrete_fields


def names_of(field):
    return {field.name, field.attname} if isinstance(field, models.ForeignKey) else {field.name}


def smuggled(route, value):
    known = set(serializer.fields) if (serializer := serializer_of(route)) else set()
    return dict.fromkeys(columns() - known - REFUSED, value)


def places_with(text):
    """Return the tables in which a row of the account in scope contains a text."""
    tables = sorted(model._meta.db_table for model in account_owned_models())
    parts = (
        f"SELECT '{table}' FROM {table} AS t WHERE t.account_id = current_account_id() AND t::text LIKE %(text)s"
        for table in tables
    )
    with connection.cursor() as cursor:
        cursor.execute(" UNION ".join(parts), {"text": f"%{text}%"})
        return [table for (table,) in cursor.fetchall()]


def attempt(world, route, extra):
    """Send a valid body with extra members; return status and text, and the tables that stored any of them."""
    client = world.shop.workspace if route.surface == "admin" else world.shop.storefront
    body = extra | sample(serializer_of(route), world)
    with rolling_back():
        response = client.send(route.method, world.path(route), body, idempotency_key="key")
        with world.shop.scope():
            kept = places_with(str(NUMBER)) + places_with(TEXT)
    return response.status_code, response.content.decode(), kept


@pytest.mark.parametrize("value", [NUMBER, TEXT], ids=["number", "text"])
def test_members_that_no_body_has_change_nothing(world, value):
    done = []
    for route in WRITING:
        plain, _, _ = attempt(world, route, {})
        done += [route] if plain < 300 else []

        status, text, kept = attempt(world, route, smuggled(route, value))

        assert (str(route), status, kept) == (str(route), plain, [])
        assert str(value) not in text
    # The others need another state of the world, such as a paid cart.
    assert len(done) > len(WRITING) * 2 / 3
