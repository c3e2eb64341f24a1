"""Migrations run while processes of the previous release serve, so they must not remove anything that those use."""

import re
from collections.abc import Iterator
from functools import cache

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

# Columns without a default, because no value fits all rows: a trigger fills them for old processes.
FILLED = {
    "carts.cart.locale": "carts_of_old_processes",
    "carts.cart.prices_include_tax": "carts_of_old_processes",
    "carts.cartlineitem.price_includes_tax": "cart_line_items_of_old_processes",
}
# Migrations before the first release, when there were no older processes.
BEFORE_THE_FIRST_RELEASE = {
    "discounts.discount.usage_count",
    "discounts.voucher.held_cents",
    "discounts.voucher.revocation_reason",
}
_TAKES_AWAY = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.DeleteModel,
    migrations.RenameModel,
    migrations.AlterModelTable,
)
_SQL_THAT_TAKES_AWAY = re.compile(
    r"\b(DROP\s+(FUNCTION|TABLE|COLUMN|VIEW)|RENAME|SET\s+NOT\s+NULL)\b", re.IGNORECASE
)


@cache
def loader() -> MigrationLoader:
    return MigrationLoader(None)


def our_migrations() -> list[migrations.Migration]:
    ours = {one.label for one in apps.get_app_configs() if settings.BASE_DIR in _parents(one.path)}
    return [found for (label, _), found in sorted(loader().disk_migrations.items()) if label in ours]


def _parents(path: str) -> Iterator[object]:
    folder = type(settings.BASE_DIR)(path)
    # Installed packages inside the folder aren't ours.
    return iter(() if "site-packages" in folder.parts else folder.parents)


def hazards(migration: migrations.Migration) -> list[str]:
    """List changes of existing tables by a migration that break old processes."""
    made = {one.name_lower for one in migration.operations if isinstance(one, migrations.CreateModel)}
    return [
        f"{migration.app_label}.{hazard}"
        for operation in migration.operations
        if getattr(operation, "model_name_lower", None) not in made
        for hazard in _hazards_of(operation, migration)
    ]


def _hazards_of(operation: Operation, migration: migrations.Migration) -> Iterator[str]:
    if isinstance(operation, _TAKES_AWAY):
        yield operation.describe()
    elif isinstance(operation, migrations.AddField | migrations.AlterField):
        is_new = isinstance(operation, migrations.AddField) or not _needs_value(
            _field_before(operation, migration)
        )
        if is_new and _needs_value(operation.field):
            yield f"{operation.model_name_lower}.{operation.name}"
    elif isinstance(operation, migrations.RunSQL):
        yield from (match[0] for match in _SQL_THAT_TAKES_AWAY.finditer(str(operation.sql)))


def _needs_value(field: models.Field) -> bool:
    """Whether inserting a row requires the column."""
    is_optional = field.null or field.many_to_many or field.generated
    return not is_optional and field.db_default is NOT_PROVIDED


def _field_before(operation: migrations.AlterField, migration: migrations.Migration) -> models.Field:
    key = (migration.app_label, migration.name)
    model = loader().project_state(key, at_end=False).models.get((key[0], operation.model_name_lower))
    before = model.fields.get(operation.name) if model else None
    return before or models.TextField(null=True)


def test_there_are_migrations_to_look_at():
    labels = {migration.app_label for migration in our_migrations()}

    assert {"accounts", "carts", "checkouts", "outbox", "emails", "shipping", "discounts"} <= labels
    assert not labels & {"auth", "sessions", "contenttypes"}


def test_no_migration_takes_away_what_old_processes_use():
    found = {hazard for migration in our_migrations() for hazard in hazards(migration)}

    assert found == set(FILLED) | BEFORE_THE_FIRST_RELEASE


@pytest.mark.django_db
def test_what_has_no_default_is_filled_by_a_trigger():
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgname FROM pg_trigger WHERE tgenabled = 'O'")
        triggers = {name for (name,) in cursor.fetchall()}

    assert set(FILLED.values()) <= triggers


@pytest.mark.parametrize(
    ("operation", "hazard"),
    [
        (migrations.AddField("cart", "colour", models.TextField(default="red")), "carts.cart.colour"),
        (migrations.AddField("cart", "colour", models.TextField(null=True)), None),
        (migrations.AddField("cart", "colour", models.TextField(db_default="red")), None),
        (migrations.AlterField("cart", "customer", models.TextField()), "carts.cart.customer"),
        (migrations.AlterField("cart", "currency", models.CharField(max_length=4)), None),
        (migrations.RemoveField("cart", "currency"), "carts.Remove field currency from cart"),
        (migrations.RenameField("cart", "currency", "money"), "carts.Rename field currency on cart to money"),
        (migrations.DeleteModel("Cart"), "carts.Delete model Cart"),
        (migrations.RunSQL("drop function f(int)"), "carts.drop function"),
        (migrations.RunSQL("ALTER TABLE carts ALTER utm SET NOT NULL"), "carts.SET NOT NULL"),
        (migrations.RunSQL("SELECT 1", "DROP FUNCTION f(int)"), None),
    ],
    ids=str,
)
def test_what_is_refused(operation, hazard):
    migration = type("Migration", (migrations.Migration,), {"operations": [operation]})
    last = max(name for label, name in loader().disk_migrations if label == "carts")

    assert hazards(migration(last, "carts")) == ([hazard] if hazard else [])
