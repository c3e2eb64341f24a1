"""Rows whose JSON has ids and cents as decimal strings, as stored by the previous release."""

import json
import os
from importlib import import_module

import psycopg
import pytest
from django.db import connection

from checkouts.models import Checkout
from checkouts.operations.codes import is_entered
from commerce.orders.models import Order
from commerce.tenancy import conversions
from tests import factories
from tests.checkouts.reconciliation.command import reconcile
from tests.shops import make_shop
from tests.storefront import ADDRESS, PHASES, checkout_in, enter_checkout, take_step

pytestmark = pytest.mark.django_db(transaction=True)

MIGRATIONS = (
    "checkouts.migrations.0007_integers_in_json",
    "commerce.orders.migrations.0003_integers_in_json",
)
COLUMNS = ("shipping_method", "pickup_point", "discount_codes", "automatic_discounts", "vat")


class Session:
    """A checkout with a code, a gift card, an automatic discount and a pickup point, and its ids."""

    def __init__(self, shop, phase="shipping"):
        self.shop = shop
        variant = factories.make_variant(shop, price_cents=1000, stock=10)
        self.method = factories.make_method(
            shop, carrier="packeta", requires_pickup_point=True, cod_fee_cents=150
        )
        self.rate = factories.make_rate(shop, method=self.method, price_cents=490, display_name="Locker")
        self.point = factories.make_pickup_point(external_id=f"00{shop.id}", is_cod_supported=True)
        self.code = factories.make_discount(shop, code="TEN", stackable=True)
        self.card = factories.make_voucher(shop, 500)
        self.card_code = self.card.code
        self.automatic = factories.make_discount(shop, title="Spring", stackable=True)
        checkout = enter_checkout(shop, (variant, 2))
        self.token = checkout["token"]
        for code in ("TEN", self.card.code):
            self.send("post", "discount.json", {"code": code})
        self.send("put", "address.json", {"shipping_address": ADDRESS})
        chosen = {
            "shipping_method_id": self.method.pk,
            "shipping_rate_id": self.rate.pk,
            "pickup_point_id": self.point.pk,
        }
        self.shown = self.send("put", "shipping.json", chosen)
        for step in PHASES[3 : PHASES.index(phase) + 1]:
            self.shown = take_step(step, shop, self.token, rate=self.rate)

    def send(self, method, path, body):
        answer = getattr(self.shop.storefront, method)(f"checkouts/{self.token}/{path}", body)
        assert answer.status_code == 200, answer.content
        return answer.json()["checkout"]

    def shown_now(self):
        return self.shop.storefront.get(f"checkouts/{self.token}.json").json()["checkout"]

    def complete(self):
        for step in PHASES[3:]:
            checkout = take_step(step, self.shop, self.token, rate=self.rate)
        return checkout

    def stored(self, kind):
        """Return the columns' JSON as stored."""
        made = {True: str, False: int}[kind == "text"]
        method, cod_fee, price = map(made, (self.method.pk, 150, 490))
        off = [made(amount["amount_cents"]) for amount in self.shown["discount_codes"]]
        automatic = made(self.shown["automatic_discounts"][0]["amount_cents"])
        return {
            "shipping_method": {
                "id": method,
                "handle": self.method.handle,
                "name": self.method.name,
                "carrier": "packeta",
                "service_code": self.method.service_code,
                "rate_mode": self.method.rate_mode,
                "requires_pickup_point": True,
                "is_cod_compatible": True,
                "estimated_days_min": self.method.estimated_days_min,
                "estimated_days_max": self.method.estimated_days_max,
                "cod_fee_cents": cod_fee,
                "rate_id": made(self.rate.pk),
                "price_cents": price,
                "currency": "EUR",
                "is_free": False,
                "display_name": "Locker",
            },
            "pickup_point": {
                "id": made(self.point.pk),
                "carrier": "packeta",
                "external_id": f"00{self.shop.id}",
                "kind": self.point.kind,
                "name": self.point.name,
                "address1": self.point.address1,
                "city": self.point.city,
                "zip": self.point.zip,
                "country_code": self.point.country_code,
                "is_cod_supported": True,
            },
            "discount_codes": [
                {
                    "code": "TEN",
                    "discount_id": made(self.code.pk),
                    "voucher_id": None,
                    "type": "discount_code",
                    "amount_cents": off[0],
                },
                {
                    "code": self.card_code,
                    "discount_id": None,
                    "voucher_id": made(self.card.pk),
                    "type": "gift_card",
                    "amount_cents": off[1],
                },
            ],
            "automatic_discounts": [
                {
                    "discount_id": made(self.automatic.pk),
                    "title": "Spring",
                    "type": self.automatic.type,
                    "amount_cents": automatic,
                }
            ],
            "vat": None,
        }

    def store_as_before(self, table="checkouts"):
        """Store the JSON like the previous release."""
        values = [
            None if value is None else json.dumps(value) for value in map(self.stored("text").get, COLUMNS)
        ]
        sets = ", ".join(f"{column} = %s" for column in COLUMNS)
        which = "token" if table == "checkouts" else "id"
        key = self.token if table == "checkouts" else int(self.shown["order_id"])
        with self.shop.scope(), connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET {sets} WHERE account_id = %s AND {which} = %s",
                [*values, self.shop.id, key],
            )
            assert cursor.rowcount == 1

    def in_database(self, table="checkouts"):
        which = "token" if table == "checkouts" else "id"
        key = self.token if table == "checkouts" else int(self.shown["order_id"])
        texts = ", ".join(f"{column}::text" for column in COLUMNS)
        with self.shop.scope(), connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {texts} FROM {table} WHERE account_id = %s AND {which} = %s", [self.shop.id, key]
            )
            row = cursor.fetchone()
        return {
            column: None if text is None else json.loads(text)
            for column, text in zip(COLUMNS, row, strict=True)
        }


def migrate(*, backwards=False):
    """Run the migrations' statements as the owner of the tables, each separately."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        for name in MIGRATIONS:
            migration = import_module(name).Migration
            assert migration.atomic is False
            (operation,) = migration.operations
            owner.execute(operation.reverse_sql if backwards else operation.sql)


@pytest.fixture
def session(shop):
    return Session(shop)


def test_new_rows_hold_integers(session):
    assert session.in_database() == session.stored("integers")


def test_open_checkouts_of_every_shop_are_converted_and_can_be_completed(session):
    other = Session(make_shop())
    for one in (session, other):
        one.store_as_before()
        assert one.in_database() == one.stored("text")

    migrate()

    for one in (session, other):
        assert one.in_database() == one.stored("integers")
        assert one.shown_now() == one.shown | {"updated_at": one.shown_now()["updated_at"]}
        completed = one.complete()
        code, card = one.shown["discount_codes"]
        masked = f"****-****-****-{one.card.code[-4:]}"
        assert completed["discount_codes"] == [code, card | {"code": masked}]
        assert completed["totals"]["gift_card_cents"] == "500"
        assert reconcile(one.shop) == []


def test_orders_are_converted_and_answered_as_before(shop):
    session = Session(shop, "completed")
    path = f"orders/{session.shown['order_id']}.json"
    before = shop.admin.get(path).json()
    session.card_code = f"****-****-****-{session.card.code[-4:]}"
    session.store_as_before("orders")

    migrate()

    assert session.in_database("orders") == session.stored("integers")
    assert shop.admin.get(path).json() == before
    assert before["order"]["discount_codes"][1]["amount_cents"] == "500"
    assert reconcile(shop) == []


def test_conversion_can_be_run_again_and_undone(session):
    migrate()
    assert session.in_database() == session.stored("integers")

    migrate(backwards=True)
    assert session.in_database() == session.stored("text")

    for _ in range(2):
        migrate()
        assert session.in_database() == session.stored("integers")


def test_every_batch_is_converted(shop, monkeypatch):
    variant = factories.make_variant(shop, stock=10)
    rate = factories.make_rate(shop)
    tokens = [checkout_in("shipping", shop, (variant, 1), rate=rate)["token"] for _ in range(3)]
    monkeypatch.setattr(conversions, "BATCH", 2)
    operation = conversions.store_integers("checkouts", objects={"shipping_method": ("id",)}, lists={})

    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        for sql, kind in ((operation.reverse_sql, "string"), (operation.sql, "number")):
            owner.execute(sql)
            with shop.scope(), connection.cursor() as cursor:
                cursor.execute("SELECT token, jsonb_typeof(shipping_method->'id') FROM checkouts ORDER BY id")
                assert cursor.fetchall() == [(token, kind) for token in tokens]


def test_what_processes_of_the_release_before_write_is_read(session):
    """They keep serving for some minutes after the migration."""
    session.store_as_before()

    assert session.shown_now() == session.shown | {"updated_at": session.shown_now()["updated_at"]}
    with session.shop.scope():
        assert is_entered(session.code.pk)
        assert Checkout.objects.get(token=session.token).discount_codes[1].voucher_id == session.card.pk
    completed = session.complete()

    assert completed["totals"]["gift_card_cents"] == "500"
    with session.shop.scope():
        order = Order.objects.get()
    assert order.shipping_method.price_cents == 490
    assert reconcile(session.shop) == []
