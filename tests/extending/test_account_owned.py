"""docs/extending.md, "Add an account-owned model": an app, without touching the product."""

import os
import sys
from importlib import import_module

import psycopg
import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.test import override_settings
from django.urls import clear_url_caches

from commerce.inventory.models import Location
from tests.backoffice.clients import make_staff
from tests.backoffice.conftest import owner, support  # noqa: F401  fixtures
from tests.problems import field_errors, problem
from tests.rows import account_owned_models, make_row
from tests.tenancy.catalogue import violations
from tests.tenancy.sharding import problems

APP = "tests.extending.suppliers"
PAGE = "suppliers/supplier/"

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def installation(django_db_setup, django_db_blocker):
    """An installation with one more app, migrated as the owner of the tables."""
    # Load the installation's URLs first, so that they are built with its own settings.
    import_module("config.urls")
    more = {
        "INSTALLED_APPS": [*django_settings.INSTALLED_APPS, APP],
        "ADMIN_API_APPS": [*django_settings.ADMIN_API_APPS, APP],
        "ROOT_URLCONF": f"{APP}.urls",
    }
    with override_settings(**more), django_db_blocker.unblock():
        model = apps.get_model("suppliers", "Supplier")
        _migrate("0001_initial")
        # As `manage.py migrate` does.
        ContentType.objects.get_for_model(model)
        problems.cache_clear()
        yield
        ContentType.objects.get_for_model(model).delete()
        ContentType.objects.clear_cache()
        admin.site.unregister(model)
        # So that they are imported again if tests of this module run once more in this process.
        for name in ("admin", "urls"):
            del sys.modules[f"{APP}.{name}"]
        _migrate(None)
        problems.cache_clear()
    clear_url_caches()


def _migrate(name):
    MigrationExecutor(connections["owner"]).migrate([("suppliers", name)])
    connections["owner"].close()


@pytest.fixture
def supplier(shop):
    return shop.admin.post("suppliers.json", {"name": "Ada & Sons"}).json()["supplier"]


def names_in(shop):
    return [each["name"] for each in shop.admin.get("suppliers.json").json()["suppliers"]]


def test_table_is_isolated_like_those_of_the_product():
    assert apps.get_model("suppliers", "Supplier") in account_owned_models()
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as connection:
        assert violations(connection.cursor()) == []


def test_rows_are_created_read_changed_and_deleted(shop, supplier):
    path = f"suppliers/{supplier['id']}.json"

    changed = shop.admin.put(path, {"name": "Ada & Daughters"})

    assert changed.json()["supplier"] == supplier | {"name": "Ada & Daughters"}
    assert shop.admin.get(path).json() == changed.json()
    assert names_in(shop) == ["Ada & Daughters"]
    assert shop.admin.delete(path).status_code == 204
    assert names_in(shop) == []


def test_bad_fields_are_named(shop):
    answer = shop.admin.post("suppliers.json", {"name": "", "location_id": "x"})

    assert {field for field, _ in field_errors(answer)} == {"name", "location_id"}
    assert names_in(shop) == []


def test_another_shops_key_finds_nothing(shop, other_shop, supplier):
    path = f"suppliers/{supplier['id']}.json"

    refused = [
        other_shop.admin.get(path),
        other_shop.admin.put(path, {"name": "Mine"}),
        other_shop.admin.delete(path),
    ]

    assert [problem(answer) for answer in refused] == [(404, "not_found")] * 3
    assert (names_in(other_shop), names_in(shop)) == ([], ["Ada & Sons"])


def test_key_without_the_area_is_refused(shop, supplier):
    answer = shop.client_with("read_orders").get("suppliers.json")

    assert problem(answer) == (403, "insufficient_scope")


def test_row_can_not_refer_to_another_shops(shop, other_shop, supplier):
    with other_shop.scope():
        foreign = make_row(Location).pk

    answer = shop.admin.put(f"suppliers/{supplier['id']}.json", {"location_id": foreign})

    assert {field for field, _ in field_errors(answer)} == {"location_id"}
    assert shop.admin.get(f"suppliers/{supplier['id']}.json").json()["supplier"] == supplier


def test_member_uses_the_page(shop, owner):  # noqa: F811  the fixture
    owner.fill(f"{PAGE}add/", name="Ada & Sons")
    (row,) = shop.admin.get("suppliers.json").json()["suppliers"]
    owner.fill(f"{PAGE}{row['id']}/change/", name="Ada & Daughters")
    refused = owner.fill(f"{PAGE}{row['id']}/change/", name="x" * 101)

    assert names_in(shop) == ["Ada & Daughters"]
    assert list(refused.context["adminform"].form.errors) == ["name"]
    assert f'href="/backoffice/{PAGE}"' in owner.get("orders/order/").content.decode()


def test_support_only_reads_the_page(shop, support, supplier):  # noqa: F811  the fixture
    shown = support.get(f"{PAGE}{supplier['id']}/change/")
    refused = support.post(f"{PAGE}{supplier['id']}/change/", {"name": "Changed"})

    assert (shown.status_code, refused.status_code) == (200, 403)
    assert names_in(shop) == ["Ada & Sons"]


def test_another_shops_member_finds_nothing_on_the_page(shop, other_shop, supplier):
    stranger = make_staff(other_shop)

    listed = stranger.get(PAGE)
    opened = stranger.get(f"{PAGE}{supplier['id']}/change/")
    stranger.post(f"{PAGE}{supplier['id']}/change/", {"name": "Mine"})
    stranger.post(f"{PAGE}{supplier['id']}/delete/", {"post": "yes"})

    assert listed.status_code == 200
    assert "Ada &amp; Sons" not in listed.content.decode()
    assert opened.status_code == 302
    assert names_in(shop) == ["Ada & Sons"]
