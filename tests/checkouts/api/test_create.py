"""POST checkouts.json and GET checkouts/{token}.json."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from carts.models import Cart
from checkouts.models import Checkout
from commerce.catalog.models import Variant, VariantPricing
from commerce.inventory.models import InventoryLevel
from tests import factories
from tests.storefront import EMAIL, cart_with, checkout_in, enter_checkout


def stock(shop):
    with shop.scope():
        return list(InventoryLevel.objects.order_by("pk").values_list("on_hand", "reserved", "committed"))


def open_checkout(shop, token, **body):
    return shop.storefront.post("checkouts.json", {"cart_token": token, "email": EMAIL} | body)


def test_checkout_freezes_the_cart_and_reserves_its_stock(shop):
    factories.make_tax_rate(shop, 1900)
    variant = factories.make_variant(shop, price_cents=1190, stock=5)
    token = cart_with(shop, (variant, 2))

    answer = open_checkout(shop, token)

    assert answer.status_code == 201
    checkout = answer.json()["checkout"]
    assert (checkout["phase"], checkout["cart_token"], checkout["email"]) == ("pending", token, EMAIL)
    assert checkout["token"] != token
    assert (checkout["ready_to_complete"], checkout["order_id"], checkout["order_token"]) == (
        False,
        None,
        None,
    )
    (line,) = checkout["line_items"]
    assert (line["quantity"], line["line_total_with_tax_cents"], line["line_tax_cents"]) == (2, "2380", "380")
    assert checkout["totals"]["total_cents"] == "2380"
    assert checkout["totals"]["tax_cents"] == "380"
    lifetime = parse_datetime(checkout["expires_at"]) - parse_datetime(checkout["created_at"])
    assert abs(lifetime - timedelta(minutes=60)) < timedelta(seconds=30)
    assert stock(shop) == [(5, 2, 0)]
    assert shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"] == checkout


def test_frozen_lines_do_not_follow_catalogue_or_cart(shop):
    factories.make_tax_rate(shop, 1900)
    variant = factories.make_variant(shop, price_cents=1000)
    checkout = enter_checkout(shop, (variant, 1))
    with shop.scope():
        VariantPricing.objects.update(price_cents=9999)
    shop.storefront.post(
        f"carts/{checkout['cart_token']}/lines.json", {"variant_id": variant.pk, "quantity": 5}
    )

    assert shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"] == checkout


def test_lines_of_one_variant_share_its_stock(shop):
    variant = factories.make_variant(shop, stock=3)
    token = cart_with(shop, (variant, 2))
    extra = {"variant_id": variant.pk, "quantity": 2, "custom_attributes": {"gift": True}}
    shop.storefront.post(f"carts/{token}/lines.json", extra)

    answer = open_checkout(shop, token)

    assert (answer.status_code, answer.json()["code"]) == (409, "insufficient_inventory")
    assert answer.json()["items"] == [{"variant_id": str(variant.pk), "requested": 4, "available": 3}]
    assert stock(shop) == [(3, 0, 0)]
    with shop.scope():
        assert Checkout.objects.count() == 0


def test_archived_variant_is_not_available(shop):
    variant = factories.make_variant(shop)
    token = cart_with(shop, (variant, 1))
    with shop.scope():
        Variant.objects.update(archived_at=timezone.now())

    answer = open_checkout(shop, token)

    assert (answer.status_code, answer.json()["code"]) == (409, "insufficient_inventory")
    assert stock(shop) == [(100, 0, 0)]


def test_untracked_and_backorder_variants_need_no_stock(shop):
    untracked = factories.make_variant(shop, stock=None, track_inventory=False)
    backorder = factories.make_variant(shop, stock=1, allow_backorder=True)

    checkout = enter_checkout(shop, (untracked, 3), (backorder, 3))

    assert checkout["phase"] == "pending"
    assert stock(shop) == [(1, 3, 0)]


def test_empty_cart_is_refused(shop):
    answer = open_checkout(shop, cart_with(shop))

    assert (answer.status_code, answer.json()["code"]) == (422, "cart_empty")


def test_unknown_and_foreign_carts_are_not_found(shop, other_shop):
    foreign = cart_with(other_shop, (factories.make_variant(other_shop), 1))

    assert open_checkout(shop, "nothing").status_code == 404
    assert open_checkout(shop, foreign).status_code == 404


@pytest.mark.parametrize("state", ["converted", "expired"])
def test_cart_that_is_not_active_is_refused(shop, state):
    variant = factories.make_variant(shop)
    token = cart_with(shop, (variant, 1))
    changes = {"expired": {"expires_at": timezone.now()}, "converted": {"status": "converted"}}
    with shop.scope():
        Cart.objects.update(**changes[state])

    answer = open_checkout(shop, token)

    assert (answer.status_code, answer.json()["code"]) == (409, "cart_not_active")
    assert answer.json()["cart_status"] == state
    assert stock(shop) == [(100, 0, 0)]


@pytest.mark.parametrize("email", ["", "nobody", None, 7, "a@b\x00.example", "x" * 250 + "@example.com"])
def test_bad_email_is_refused(shop, email):
    token = cart_with(shop, (factories.make_variant(shop), 1))

    answer = open_checkout(shop, token, email=email)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "email"


def test_starting_over_abandons_the_older_checkout_and_takes_over_its_stock(shop):
    variant = factories.make_variant(shop, stock=2)
    older = enter_checkout(shop, (variant, 2))

    answer = open_checkout(shop, older["cart_token"])

    assert answer.status_code == 201
    assert stock(shop) == [(2, 2, 0)]
    shown = shop.storefront.get(f"checkouts/{older['token']}.json").json()["checkout"]
    assert shown["phase"] == "abandoned"
    events = shop.admin.get("events.json").json()["events"]
    assert [event["type"] for event in events] == [
        "checkout.created",
        "checkout.abandoned",
        "checkout.created",
    ]


def test_paid_checkout_is_not_started_over(shop):
    variant = factories.make_variant(shop, stock=2)
    paid = checkout_in("ready", shop, (variant, 2))

    answer = open_checkout(shop, paid["cart_token"])

    assert (answer.status_code, answer.json()["code"]) == (409, "checkout_already_paid")
    assert shop.storefront.get(f"checkouts/{paid['token']}.json").json()["checkout"] == paid
    assert stock(shop) == [(2, 2, 0)]


def test_stock_may_be_reserved_when_the_payment_starts(shop):
    shop.admin.put("settings.json", {"settings": {"commerce.checkout.reserve_at": "payment_start"}})
    variant = factories.make_variant(shop, stock=2)

    checkout = checkout_in("payment", shop, (variant, 2))
    before = stock(shop)
    shop.storefront.post(f"checkouts/{checkout['token']}/start_payment.json", {})

    assert (before, stock(shop)) == ([(2, 0, 0)], [(2, 2, 0)])


def test_start_payment_is_refused_when_its_stock_is_gone(shop):
    shop.admin.put("settings.json", {"settings": {"commerce.checkout.reserve_at": "payment_start"}})
    variant = factories.make_variant(shop, stock=2)
    checkout = checkout_in("payment", shop, (variant, 2))
    with shop.scope():
        InventoryLevel.objects.update(on_hand=1)

    answer = shop.storefront.post(f"checkouts/{checkout['token']}/start_payment.json", {})

    assert (answer.status_code, answer.json()["code"]) == (409, "insufficient_inventory")
    assert shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"] == checkout


def test_session_length_is_the_accounts_own(shop):
    shop.admin.put("settings.json", {"settings": {"commerce.checkout.session_ttl_minutes": 5}})

    checkout = enter_checkout(shop, (factories.make_variant(shop), 1))

    lifetime = parse_datetime(checkout["expires_at"]) - parse_datetime(checkout["created_at"])
    assert abs(lifetime - timedelta(minutes=5)) < timedelta(seconds=30)
