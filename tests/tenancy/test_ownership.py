"""The checker of writes, which the whole test run goes through, sees what it should."""

import pytest
from django.conf import settings

from tests.tenancy import ownership
from tests.tenancy.watching import Watch


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ('SELECT "carts"."id" FROM "carts" WHERE "carts"."account_id" = %s FOR UPDATE OF "carts"', ()),
        ("SELECT 1 FROM carts WHERE account_id = %s FOR NO KEY UPDATE", ()),
        ('INSERT INTO "carts" ("account_id") VALUES (%s) ON CONFLICT (id) DO UPDATE SET x = 1', ("carts",)),
        ('UPDATE "carts" SET "status" = %s WHERE "carts"."account_id" = %s', ("carts",)),
        ('DELETE FROM "carts" WHERE "carts"."account_id" = %s', ("carts",)),
        (
            (
                "WITH gone AS (DELETE FROM discount_holds WHERE account_id = %s RETURNING *)\n"
                "INSERT INTO discount_redemptions SELECT * FROM gone"
            ),
            ("discount_holds", "discount_redemptions"),
        ),
    ],
)
def test_written_tables_are_told_from_read_and_locked_ones(sql, tables):
    assert ownership.written_tables(sql) == tables


def send_as(module: str, sql: str, caller: object = None) -> list[str]:
    """What the watch says of a statement that a function of this module sends."""
    watch = Watch(ownership.check)
    source = "def send(self, watch, sql): watch(lambda *a: None, sql, [], False, {})"
    names = {"__name__": module}
    path = settings.BASE_DIR / f"{module.replace('.', '/')}.py"
    exec(compile(source, path, "exec"), names)  # noqa: S102  its file's and module's names count
    names["send"](caller, watch, sql)
    return watch.found


WRITE = "UPDATE carts SET status = %s WHERE account_id = %s"


def test_write_of_another_apps_table_is_found_with_the_module_that_sent_it():
    found = send_as("checkouts.operations.imagined", WRITE)

    assert found == [f"checkouts.operations.imagined writes carts of carts: {WRITE}"]


def test_owner_tests_and_helpers_may_write():
    watch = Watch(ownership.check)

    watch(lambda *arguments: None, WRITE, [], False, {})

    assert (watch.found, send_as("carts.operations", WRITE), send_as("commerce.tenancy.models", WRITE)) == (
        [],
        [],
        [],
    )


def test_helper_is_judged_by_the_class_that_it_runs_for():
    page = type("Page", (), {"__module__": "shipping.admin"})()

    found = send_as("commerce.backoffice.options", WRITE, page)

    assert found == [f"shipping.admin writes carts of carts: {WRITE}"]
