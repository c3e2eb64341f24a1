"""The checker that sees all statements of the test run finds what it should."""

import pytest
from django.conf import settings

from accounts.models import Market
from accounts.operations import update_market
from commerce.catalog.models import Variant
from tests.factories import make_variant
from tests.tenancy.sharding import check, problems
from tests.tenancy.watching import Watch


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT "markets"."id" FROM "markets" WHERE "markets"."account_id" = %s',
        'UPDATE "markets" SET "name" = %s WHERE ("markets"."account_id" = %s AND "markets"."id" = %s)',
        'DELETE FROM "shipping_zones" WHERE "shipping_zones"."account_id" IN (%s)',
        'INSERT INTO "markets" ("account_id", "handle") VALUES (%s, %s) RETURNING "markets"."id"',
        "SELECT 1 FROM carts c JOIN markets m ON m.account_id = c.account_id AND m.id = c.market_id WHERE c.account_id = %s",
        "SELECT 1 FROM carts JOIN markets USING (account_id) WHERE account_id = %s",
        "SELECT id FROM accounts WHERE handle = %s",
        "SELECT * FROM resolve_api_key(%s, %s)",
        "SELECT id FROM markets WHERE account_id = %s FOR UPDATE SKIP LOCKED",
    ],
)
def test_statement_that_compares_the_account_passes(sql):
    assert problems(sql) == ()


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ('SELECT "markets"."account_id" FROM "markets"', "reads markets without comparing account_id"),
        ("UPDATE markets SET name = %s WHERE id = %s", "reads markets without comparing account_id"),
        ("DELETE FROM markets WHERE id = %s", "reads markets without comparing account_id"),
        (
            "SELECT 1 FROM carts c JOIN markets m ON m.id = c.market_id WHERE c.account_id = %s",
            "reads markets without comparing account_id",
        ),
        (
            'SELECT 1 FROM "carts" WHERE "carts"."account_id" = %s AND EXISTS(SELECT 1 FROM "markets" U0 LIMIT 1)',
            "reads markets without comparing account_id",
        ),
        ("INSERT INTO markets (handle) VALUES (%s)", "inserts into markets without account_id"),
        ("UPDATE markets SET account_id = %s WHERE account_id = %s", "sets account_id"),
        (
            "INSERT INTO markets (account_id) VALUES (%s) ON CONFLICT (id) DO UPDATE SET account_id = EXCLUDED.account_id",
            "sets account_id",
        ),
    ],
)
def test_statement_that_reaches_past_a_shard_is_found(sql, problem):
    assert problems(sql) == (problem,)


def test_watch_tells_the_products_statements_from_the_tests_own():
    watch = Watch(check)
    source = "def ask(watch): watch(lambda *a: None, 'SELECT 1 FROM carts', [], False, {})"
    product = {}
    exec(compile(source, settings.BASE_DIR / "carts" / "imagined.py", "exec"), product)  # noqa: S102  its file's name counts

    product["ask"](watch)
    watch(lambda *arguments: None, "SELECT 1 FROM markets", [], False, {})

    assert watch.found == ["reads carts without comparing account_id: SELECT 1 FROM carts"]


@pytest.fixture
def statements(django_assert_num_queries):
    """Check the number of statements in a block, and that each passes."""

    def run(number, work):
        with django_assert_num_queries(number) as captured:
            result = work()
        assert [problems(query["sql"]) for query in captured] == [()] * number
        return result

    return run


def test_orm_joins_compare_the_account(shop, statements):
    make_variant(shop)

    with shop.scope():
        statements(
            1, lambda: list(Variant.objects.select_related("product").filter(pricing__market__handle="de"))
        )
        statements(2, lambda: list(Variant.objects.prefetch_related("pricing")))
        statements(1, lambda: list(Variant.objects.exclude(pricing__market__handle="de")))
        statements(1, lambda: Variant.objects.select_for_update().get().product_id)


def test_orm_writes_name_the_account(shop, statements):
    with shop.scope():
        market = statements(1, Market.objects.get)
        statements(1, market.save)
        statements(2, lambda: update_market(market_id=market.pk, changes={"name": "New"}))
        statements(1, lambda: Market.objects.filter(handle="de").update(name="Newer"))
        statements(1, market.refresh_from_db)
        statements(1, lambda: Market.objects.bulk_update([market], ["name"]))
        statements(1, lambda: Market.objects.bulk_create([Market(handle="x", currency="EUR")]))
        statements(1, market.delete)

        assert Market.objects.filter(handle="de").exists() is False
