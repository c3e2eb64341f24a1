"""A minimum subtotal is an amount, so it has a currency even if none was given."""

import os
from importlib import import_module

import psycopg
import pytest
from django.db import connection

from accounts.operations import create_market
from discounts.models import Discount
from tests import factories
from tests.discounts.api.discounts import PERCENTAGE
from tests.problems import problem
from tests.storefront import cart_with


@pytest.fixture
def czech(shop):
    """A market in another currency than the account's default."""
    fields = {"handle": "cz", "name": "CZ", "currency": "CZK", "locale": "cs-CZ", "country_code": "CZ"}
    with shop.scope():
        return create_market(fields=fields)


def create(shop, **fields):
    answer = shop.admin.post("discounts.json", PERCENTAGE | fields)
    assert answer.status_code == 201, answer.content
    return answer.json()["discount"]


def test_minimum_is_in_the_currency_of_the_only_markets(shop, czech):
    with shop.scope():
        type(czech).objects.exclude(pk=czech.pk).update(status="inactive")

    assert create(shop, minimum_order_subtotal_cents=5000)["currency"] == "CZK"


def test_minimum_is_in_the_currency_of_the_named_markets(shop, czech):
    assert create(shop, minimum_order_subtotal_cents=5000, market_ids=[czech.pk])["currency"] == "CZK"


def test_minimum_for_markets_of_several_currencies_is_in_the_accounts_own(shop, czech):
    assert create(shop, minimum_order_subtotal_cents=5000)["currency"] == "EUR"


def test_minimum_keeps_the_currency_that_was_given(shop, czech):
    assert create(shop, minimum_order_subtotal_cents=5000, currency="CZK")["currency"] == "CZK"


def test_percentage_without_a_minimum_has_no_currency(shop, czech):
    assert create(shop)["currency"] is None


def test_minimum_that_is_added_later_gets_a_currency(shop, czech):
    discount = create(shop)
    path = f"discounts/{discount['id']}.json"

    changed = shop.admin.put(path, {"minimum_order_subtotal_cents": 5000}).json()["discount"]
    reset = shop.admin.put(path, {"currency": None}).json()["discount"]
    without = shop.admin.put(path, {"currency": None, "minimum_order_subtotal_cents": 0}).json()["discount"]

    assert [each["currency"] for each in (changed, reset, without)] == ["EUR", "EUR", None]
    assert shop.admin.get(path).json()["discount"]["currency"] is None


def test_currency_of_a_minimum_follows_the_markets(shop, czech):
    path = (
        f"discounts/{create(shop, minimum_order_subtotal_cents=5000, market_ids=[shop.market.pk])['id']}.json"
    )

    moved = shop.admin.put(path, {"market_ids": [czech.pk]}).json()["discount"]
    renamed = shop.admin.put(path, {"title": "Other"}).json()["discount"]
    freed = shop.admin.put(path, {"minimum_order_subtotal_cents": 0}).json()["discount"]

    assert (moved["currency"], renamed["currency"], freed["currency"]) == ("CZK", "CZK", None)


def test_currency_of_an_amount_stays(shop, czech):
    amount = {"value_mode": "fixed_amount", "value_amount": 500, "currency": "EUR"}
    made = create(shop, minimum_order_subtotal_cents=5000, **amount)

    freed = shop.admin.put(f"discounts/{made['id']}.json", {"minimum_order_subtotal_cents": 0})

    assert freed.json()["discount"]["currency"] == "EUR"


def test_minimum_is_not_compared_with_prices_in_another_currency(shop, czech):
    create(shop, minimum_order_subtotal_cents=5000)
    variant = factories.make_variant(shop, price_cents=6000)
    factories.set_price(shop, variant, 100_000, market=czech, currency="CZK")
    answers = []
    for market_id in (shop.market.pk, czech.pk):
        body = {"cart_token": cart_with(shop, (variant, 1), market_id=market_id), "email": "a@example.com"}
        token = shop.storefront.post("checkouts.json", body).json()["checkout"]["token"]
        answers.append(shop.storefront.post(f"checkouts/{token}/discount.json", {"code": "WELCOME"}))

    euros, crowns = answers
    assert euros.json()["checkout"]["totals"]["discount_cents"] == "600"
    assert problem(crowns) == (409, "currency_mismatch")


@pytest.mark.django_db(transaction=True)
def test_migration_gives_currencies_to_stored_minimums(shop, czech):
    fields = {"minimum_order_subtotal_cents": 5000}
    rows = [
        factories.make_discount(shop, code="A", **fields),
        factories.make_discount(shop, code="B", market_ids=[czech.pk], **fields),
        factories.make_discount(shop, code="C", market_ids=[shop.market.pk, czech.pk], **fields),
        factories.make_discount(shop, code="D", currency="CZK", **fields),
        factories.make_discount(shop, code="E"),
        factories.make_discount(shop, code="F", status="archived", **fields),
    ]
    (operation,) = import_module("discounts.migrations.0008_currency_of_minimums").Migration.operations

    # Interrupted, it is run again.
    for _ in range(2):
        with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
            owner.execute(operation.sql)
    connection.close()

    with shop.scope():
        stored = dict(Discount.objects.values_list("pk", "currency"))
    assert [stored[row.pk] for row in rows] == ["EUR", "CZK", "EUR", "CZK", None, None]
