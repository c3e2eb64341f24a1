"""If a merchant changes something while a customer pays, the customer gets what was shown, or nothing stays held."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from checkouts.reconciliation import find_differences
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.outbox.worker import run_due
from discounts.models import DiscountHold, VoucherHold
from tests import factories
from tests.checkouts.payments.conftest import Till
from tests.shops import Shop
from tests.storefront import EMAIL, cart_with, take_step


@dataclass
class World:
    """A checkout that uses everything a merchant can remove."""

    shop: Shop
    till: Till
    variant: Any
    rate: Any
    discount: Any
    automatic: Any
    card: Any
    customer: Any

    def admin(self, method, path, body=None):
        answer = self.shop.admin.send(method, path, body)
        assert answer.status_code in {200, 201, 204}, answer.content

    @property
    def location_id(self):
        with self.shop.scope():
            return InventoryLevel.objects.get().location_id


ACTS = {
    "product archived": lambda w: w.admin("DELETE", f"products/{w.variant.product_id}.json"),
    "variant no longer tracked": lambda w: w.admin(
        "PUT", f"variants/{w.variant.pk}.json", {"track_inventory": False}
    ),
    "variant takes backorders": lambda w: w.admin(
        "PUT", f"variants/{w.variant.pk}.json", {"allow_backorder": True}
    ),
    "price changed": lambda w: w.admin(
        "PUT", f"variants/{w.variant.pk}/pricing/{w.shop.market.pk}.json", {"price_cents": 1}
    ),
    "location closed": lambda w: w.admin("PUT", f"locations/{w.location_id}.json", {"is_active": False}),
    "stock counted down to what is reserved": lambda w: w.admin(
        "POST",
        "inventory_levels/adjust.json",
        {"variant_id": w.variant.pk, "location_id": w.location_id, "delta": -98, "reason": "count"},
    ),
    "market deactivated": lambda w: w.admin("DELETE", f"markets/{w.shop.market.pk}.json"),
    "market net": lambda w: w.admin("PUT", f"markets/{w.shop.market.pk}.json", {"prices_include_tax": False}),
    "market elsewhere": lambda w: w.admin(
        "PUT",
        f"markets/{w.shop.market.pk}.json",
        {"currency": "CZK", "country_code": "CZ", "locale": "cs-CZ"},
    ),
    "rate deleted": lambda w: w.admin("DELETE", f"shipping/rates/{w.rate.pk}.json"),
    "method deleted": lambda w: w.admin("DELETE", f"shipping/methods/{w.rate.method_id}.json"),
    "discount archived": lambda w: w.admin("DELETE", f"discounts/{w.discount.pk}.json"),
    "discount disabled": lambda w: w.admin("PUT", f"discounts/{w.discount.pk}.json", {"status": "disabled"}),
    "discount used up": lambda w: w.admin("PUT", f"discounts/{w.discount.pk}.json", {"usage_limit_total": 1}),
    "discount renamed": lambda w: w.admin("PUT", f"discounts/{w.discount.pk}.json", {"code": "OTHER"}),
    "automatic discount archived": lambda w: w.admin("DELETE", f"discounts/{w.automatic.pk}.json"),
    "another automatic discount": lambda w: factories.make_discount(w.shop, code=None, stackable=True),
    "gift card disabled": lambda w: w.admin("DELETE", f"vouchers/{w.card.pk}.json"),
    "gift card revoked": lambda w: w.admin("POST", f"vouchers/{w.card.pk}/revoke.json", {"reason": "fraud"}),
    "customer redacted": lambda w: w.admin("POST", f"customers/{w.customer.pk}/redact.json", {}),
    "stock taken later": lambda w: _set(w, "commerce.checkout.reserve_at", "payment_start"),
    "shorter sessions": lambda w: _set(w, "commerce.checkout.session_ttl_minutes", 1),
    "payment method switched off": lambda w: _set(w, "commerce.payments.test_card", False),
    "seller's VAT number": lambda w: _update_account(w, vat_number="DE123456789", country_code="DE"),
}


def _set(world, name, value):
    world.admin("PUT", "settings.json", {"settings": {name: value}})


def _update_account(world, **changes):
    path = f"accounts/{world.shop.handle}.json"
    version = world.shop.workspace.get(path).json()["account"]["version"]
    answer = world.shop.workspace.put(path, {"expected_version": version, **changes})
    assert answer.status_code == 200, answer.content


@pytest.fixture
def world(shop) -> World:
    shop.admin.put("settings.json", {"settings": {"commerce.payments.test_card": True}})
    factories.make_tax_rate(shop)
    variant, rate = factories.make_variant(shop), factories.make_rate(shop)
    discount = factories.make_discount(shop, code="CODE", stackable=True, usage_limit_total=5)
    automatic = factories.make_discount(shop, code=None, stackable=True, usage_limit_per_customer=5)
    card, customer = factories.make_voucher(shop, 300), factories.make_customer(shop)
    token = cart_with(shop, (variant, 2))
    shop.storefront.put(f"carts/{token}/customer.json", {"customer_id": customer.pk})
    checkout = shop.storefront.post("checkouts.json", {"cart_token": token, "email": EMAIL}).json()[
        "checkout"
    ]
    for code in ("CODE", card.code):
        shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code})
    for step in ("address", "shipping", "payment"):
        take_step(step, shop, checkout["token"], rate=rate, payment_method="test_card")
    return World(shop, Till.of(shop, checkout["token"]), variant, rate, discount, automatic, card, customer)


def pay(started):
    path = urlsplit(started.json()["payment_attempt"]["redirect_url"]).path
    assert Client().post(f"{path}/succeed").status_code == 303


def assert_books_agree(shop):
    with shop.scope():
        assert list(find_differences()) == []


@pytest.mark.parametrize("act", ACTS)
def test_what_was_shown_at_the_payment_is_charged_ordered_and_given_back(world, act):
    shown = world.till.shown["totals"]
    started = world.till.start()

    ACTS[act](world)
    pay(started)
    confirmed, completed = world.till.confirm(), world.till.complete()

    assert (confirmed.status_code, completed.status_code) == (200, 200), completed.content
    assert completed.json()["checkout"]["totals"] == shown
    (attempt,) = world.till.attempts
    with world.shop.scope():
        order = Order.objects.get()
        assert (order.total_cents, order.payment_status) == (int(shown["total_cents"]), "paid")
        assert attempt.amount_cents == order.amount_due_cents == int(shown["amount_due_cents"])
    assert_books_agree(world.shop)

    world.admin("POST", f"orders/{order.pk}/cancel.json", {})
    run_due()

    with world.shop.scope():
        assert Order.objects.get().payment_status == "refunded"
    assert_nothing_is_held(world.shop)


@pytest.mark.parametrize("act", ACTS)
def test_checkout_that_nobody_pays_is_abandoned_and_gives_all_back(world, act):
    world.till.start()

    ACTS[act](world)
    world.till.let_expire()
    for _ in range(2):
        sweep_overdue_checkouts(now=timezone.now())
        run_due()
    sweep_overdue_checkouts(now=timezone.now())

    assert world.till.shown["phase"] == "abandoned"
    assert_nothing_is_held(world.shop)


@pytest.mark.parametrize("act", ACTS)
def test_payment_that_failed_can_be_tried_again_or_is_refused_with_a_reason(world, act):
    world.till.start()
    ACTS[act](world)
    failed = world.till.confirm({"cancel": True}).json()["checkout"]

    chosen = world.till.choose("bank_transfer")
    started = world.till.start()

    assert failed["phase"] == "failed"
    assert (chosen.status_code, started.status_code) in {(200, 200), (200, 409)}, started.content
    assert_books_agree(world.shop)


def assert_nothing_is_held(shop):
    assert_books_agree(shop)
    with shop.scope():
        level = InventoryLevel.objects.get()
        assert (level.reserved, level.committed) == (0, 0)
        assert not DiscountHold.objects.exists()
        assert not VoucherHold.objects.exists()
