"""A gift card's code is as good as money: after the checkout, only its last four characters are shown."""

import csv
import io
import os
from importlib import import_module

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from checkouts.models import Checkout
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.events.models import Event
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from discounts.models import Voucher
from emails.models import EmailDelivery
from tests import factories
from tests.checkouts.reconciliation.command import reconcile
from tests.storefront import enter_checkout, take_step

pytestmark = pytest.mark.django_db(transaction=True)

MIGRATIONS = (
    "commerce.orders.migrations.0004_masked_card_codes",
    "commerce.events.migrations.0003_masked_card_codes",
    "emails.migrations.0009_masked_card_codes",
    "checkouts.migrations.0009_masked_card_codes",
)
# A merchant may give a discount a code that looks like a gift card's.
CODE = "AAAA-BBBB-CCCC-DDDD"


class Sale:
    def __init__(self, shop):
        self.shop = shop
        self.card = factories.make_voucher(shop, 100_000)
        self.discount = factories.make_discount(shop, code=CODE, stackable=True)
        self.masked = f"****-****-****-{self.card.code[-4:]}"
        rate = factories.make_rate(shop)
        self.token = enter_checkout(shop, (factories.make_variant(shop, stock=5), 1))["token"]
        for code in (CODE, self.card.code):
            answer = shop.storefront.post(f"checkouts/{self.token}/discount.json", {"code": code})
            assert answer.status_code == 200, answer.content
        for step in ("address", "shipping", "payment", "processing", "ready"):
            self.entered = take_step(step, shop, self.token, rate=rate)
        self.shown = take_step("completed", shop, self.token, rate=rate)

    def codes(self, document):
        return [entry["code"] for entry in document["discount_codes"]]


@pytest.fixture
def sale(shop):
    return Sale(shop)


def test_order_shows_the_end_of_a_gift_cards_code(sale):
    order_id, token = sale.shown["order_id"], sale.shown["order_token"]

    as_staff = sale.shop.client_with("read_orders").get(f"orders/{order_id}.json").json()["order"]
    as_shopper = sale.shop.storefront.get(f"orders/{token}.json").json()["order"]

    assert sale.codes(as_staff) == sale.codes(as_shopper) == [CODE, sale.masked]
    assert as_staff["discount_codes"][1]["voucher_id"] == str(sale.card.pk)


def test_checkout_shows_the_end_of_a_gift_cards_code_once_it_is_completed(sale):
    again = sale.shop.storefront.post(
        f"checkouts/{sale.token}/complete.json", {}, idempotency_key=f"complete-{sale.token}"
    )
    read = sale.shop.storefront.get(f"checkouts/{sale.token}.json").json()["checkout"]

    assert sale.codes(sale.entered) == [CODE, sale.card.code]
    assert sale.codes(sale.shown) == [CODE, sale.masked]
    assert (sale.shown["discount_codes"], sale.shown["order_id"]) == (
        read["discount_codes"],
        read["order_id"],
    )
    assert again.json()["checkout"] == read
    with sale.shop.scope():
        assert sale.card.code not in str(Checkout.objects.values_list("discount_codes"))
        assert Order.objects.count() == 1


def test_order_that_is_cancelled_gives_back_to_a_card_whose_code_is_masked(sale):
    order_id, paid_cents = sale.shown["order_id"], int(sale.shown["totals"]["gift_card_cents"])
    with sale.shop.scope():
        left_cents = Voucher.objects.get().balance_cents

    assert sale.shop.admin.post(f"orders/{order_id}/cancel.json", {}).status_code == 200

    with sale.shop.scope():
        assert (left_cents, Voucher.objects.get().balance_cents) == (100_000 - paid_cents, 100_000)
    assert reconcile(sale.shop) == []


@pytest.mark.parametrize("step", ["pending", "processing"])
def test_checkouts_that_are_abandoned_keep_the_end_of_a_gift_cards_code(shop, step):
    card, other = (factories.make_voucher(shop, 100_000) for _ in range(2))
    discount = factories.make_discount(shop, code=CODE, stackable=True)
    rate, variant = factories.make_rate(shop), factories.make_variant(shop, stock=5)
    for code in (card.code, other.code, None):
        token = enter_checkout(shop, (variant, 1))["token"]
        for each in filter(None, (CODE, code)):
            shop.storefront.post(f"checkouts/{token}/discount.json", {"code": each})
        if step == "processing":
            for each in ("address", "shipping", "payment", "processing"):
                take_step(each, shop, token, rate=rate)
    with shop.scope():
        Checkout.objects.update(expires_at=timezone.now())

    sweep_overdue_checkouts(now=timezone.now())

    with shop.scope():
        ended = Checkout.objects.order_by("pk").values_list("phase", "discount_codes")
        assert [(phase, [(each.code, each.discount_id) for each in codes]) for phase, codes in ended] == [
            ("abandoned", [(CODE, discount.pk), (f"****-****-****-{card.code[-4:]}", None)]),
            ("abandoned", [(CODE, discount.pk), (f"****-****-****-{other.code[-4:]}", None)]),
            ("abandoned", [(CODE, discount.pk)]),
        ]
        assert set(Voucher.objects.values_list("held_cents", flat=True)) == {0}
    assert reconcile(shop) == []


def test_events_hold_the_end_of_a_gift_cards_code(sale):
    events = sale.shop.client_with("read_events").get("events.json").json()["events"]

    (completed,) = (event for event in events if event["type"] == "checkout.completed")
    assert sale.codes(completed["data"]) == [CODE, sale.masked]
    assert sale.card.code not in str(events)


def test_emails_and_exports_of_an_order_hold_the_end_of_a_gift_cards_code(sale):
    with sale.shop.scope():
        dispatch = OutboxDispatch.objects.get(payload__template_key="order.confirmation")
    out = io.StringIO()
    call_command("export_orders", sale.shop.handle, stdout=out)
    (row,) = csv.DictReader(io.StringIO(out.getvalue()))

    assert sale.codes(dispatch.payload["ctx"]["order"]) == [CODE, sale.masked]
    assert sale.card.code not in str(dispatch.payload)
    assert sale.card.code not in str(row)


def test_text_of_a_gift_card_email_takes_the_scope_of_vouchers(shop):
    body = {
        "initial_balance_cents": 5000,
        "currency": "EUR",
        "recipient_email": "ada@example.com",
        "send_email": True,
    }
    code = shop.admin.post("vouchers.json", body).json()["voucher"]["code"]
    ctx = {"voucher": {"code": code}}
    texts = {"subject": f"Your code {code}", "html": code, "text": code}
    delivery = factories.make_delivery(shop, template_key="voucher.issued", ctx=ctx, **texts)
    other = factories.make_delivery(shop, template_key="order.confirmation", subject="Your order")
    path = f"email/deliveries/{delivery.pk}.json"
    emails, both = shop.client_with("read_emails"), shop.client_with("read_emails", "read_vouchers")

    refused = emails.get(f"{path}?include_body=true")
    (hidden,) = emails.get("outbox_dispatches.json").json()["outbox_dispatches"]
    one = emails.get(f"outbox_dispatches/{hidden['id']}.json").json()["outbox_dispatch"]
    (shown,) = both.get("outbox_dispatches.json").json()["outbox_dispatches"]

    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert refused.json()["required_scope"] == "read_vouchers"
    assert code not in refused.content.decode()
    masked = emails.get(path).json()["email_delivery"]
    assert (masked["template_key"], masked["subject"]) == ("voucher.issued", "")
    assert both.get(path).json()["email_delivery"] == masked | {"subject": f"Your code {code}"}
    listed = emails.get("email/deliveries.json").json()["email_deliveries"]
    assert [row["subject"] for row in listed] == ["Your order", ""]
    assert [row["id"] for row in listed] == [str(other.pk), str(delivery.pk)]
    assert hidden == one == shown | {"payload": shown["payload"] | {"ctx": None}}
    assert shown["payload"]["ctx"]["voucher"]["code"] == code
    assert both.get(f"{path}?include_body=true").json()["email_delivery"]["ctx"] == ctx


def test_books_agree_on_an_order_with_a_gift_card(sale):
    assert reconcile(sale.shop) == []


def test_migration_masks_what_was_stored_before(sale):
    with sale.shop.scope():
        ctx = OutboxDispatch.objects.get(payload__template_key="order.confirmation").payload["ctx"]
        before = ctx | {"order": ctx["order"] | {"discount_codes": sale.entered["discount_codes"]}}
        stored = Checkout.objects.values_list("discount_codes", flat=True).get()
        delivery = factories.make_delivery(sale.shop, template_key="order.confirmation", ctx=before)
        other = factories.make_delivery(sale.shop, template_key="order.confirmation", ctx={"order": {}})
        data = Event.objects.get(type="checkout.completed").data
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("SELECT set_config('commerce.account_id', %s, false)", [str(sale.shop.id)])
        owner.execute(
            "UPDATE checkouts SET discount_codes = jsonb_set(discount_codes, '{1,code}', to_jsonb(%s::text))",
            [sale.card.code],
        )
        owner.execute(
            "UPDATE orders o SET discount_codes = k.discount_codes FROM checkouts k WHERE k.id = o.checkout_id"
        )
        owner.execute("ALTER TABLE events DISABLE TRIGGER events_append_only")
        owner.execute(
            "UPDATE events SET data = jsonb_set(data, '{discount_codes}', %s) WHERE type = 'checkout.completed'",
            [psycopg.types.json.Jsonb(sale.entered["discount_codes"])],
        )
        owner.execute("ALTER TABLE events ENABLE TRIGGER events_append_only")
    with sale.shop.scope():
        assert Order.objects.get().discount_codes[1].code == sale.card.code
        assert Checkout.objects.get().discount_codes[1].code == sale.card.code
    open_token = enter_checkout(sale.shop, (factories.make_variant(sale.shop, stock=5), 1))["token"]
    sale.shop.storefront.post(f"checkouts/{open_token}/discount.json", {"code": sale.card.code})

    # Interrupted, it is run again.
    for _ in range(2):
        _migrate()

    with sale.shop.scope():
        order = Order.objects.get()
        assert [applied.code for applied in order.discount_codes] == [CODE, sale.masked]
        assert [applied.voucher_id for applied in order.discount_codes] == [None, sale.card.pk]
        assert Checkout.objects.get(order__isnull=False).discount_codes == stored
        # Its shopper still may take the card off.
        assert Checkout.objects.get(token=open_token).discount_codes[0].code == sale.card.code
        assert Event.objects.get(type="checkout.completed").data == data
        assert EmailDelivery.objects.get(pk=delivery.pk).ctx == ctx
        assert EmailDelivery.objects.get(pk=other.pk).ctx == {"order": {}}
    assert reconcile(sale.shop) == []
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("SELECT set_config('commerce.account_id', %s, false)", [str(sale.shop.id)])
        with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
            owner.execute("UPDATE events SET data = '{}'")


def _migrate():
    operations = [each for name in MIGRATIONS for each in import_module(name).Migration.operations]
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        for operation in operations:
            owner.execute(operation.sql)
    connection.close()
