"""A shop with ids and amounts beyond 32 bits sells, merges, cancels, redeems and redacts like any other."""

import os

import psycopg
import pytest

from commerce.outbox.worker import run_due
from tests import factories
from tests.storefront import ADDRESS, EMAIL, PHASES, cart_with, checkout_in, enter_checkout, take_step

FIRST_ID = 2**33
PRICE = 2**36


@pytest.fixture
def _large_ids(db):
    """Start the ids of every table in its own large range, and reset them afterwards."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        found = owner.execute(
            "SELECT sequencename, coalesce(last_value, 0) FROM pg_sequences"
            " WHERE schemaname = 'public' AND data_type = 'bigint'::regtype ORDER BY 1"
        ).fetchall()
        for number, (name, _) in enumerate(found):
            owner.execute("SELECT setval(%s::regclass, %s::bigint)", [name, FIRST_ID + 1000 * number])
        yield
        for name, last in found:
            owner.execute("SELECT setval(%s::regclass, %s::bigint)", [name, max(last, 1)])


@pytest.fixture
def big_shop(_large_ids, make_shop):
    return make_shop()


def ok(answer):
    assert answer.status_code in {200, 201}, answer.content
    return answer.json()


def test_whole_journey_with_large_ids_and_amounts(big_shop):
    shop = big_shop
    product = ok(
        shop.admin.post(
            "products.json",
            {
                "handle": "ship",
                "title": "Ship",
                "variants": [
                    {
                        "sku": "SHIP",
                        "pricing": [{"market_id": shop.market.pk, "currency": "EUR", "price_cents": PRICE}],
                    }
                ],
            },
        )
    )["product"]
    variant_id = int(product["variants"][0]["id"])
    location = ok(shop.admin.get("locations.json"))["locations"][0]
    adjustment = {
        "variant_id": variant_id,
        "location_id": location["id"],
        "delta": 10**9,
        "reason": "received",
    }
    for _ in range(5):
        stocked = ok(shop.admin.post("inventory_levels/adjust.json", adjustment))
    customer = ok(shop.admin.post("customers.json", {"email": EMAIL}))["customer"]
    segment = ok(
        shop.admin.post(
            "segments.json",
            {
                "handle": "rich",
                "name": "Rich",
                "filter": {"all": [{"field": "total_spent_cents", "op": "gte", "value": PRICE}]},
            },
        )
    )["segment"]
    card = ok(shop.admin.post("vouchers.json", {"initial_balance_cents": PRICE, "currency": "EUR"}))[
        "voucher"
    ]
    ok(
        shop.admin.post(
            "discounts.json",
            {
                "type": "discount_code",
                "title": "T",
                "code": "BIG",
                "value_mode": "fixed_amount",
                "value_amount": 2**33,
                "currency": "EUR",
                "product_ids": [product["id"]],
                "customer_eligibility": "specific",
                "customer_ids": [customer["id"]],
                "segment_ids": [segment["id"]],
                "usage_limit_per_customer": 2,
            },
        )
    )
    rate = factories.make_rate(shop, price_cents=2**34)
    source, target = (
        ok(shop.storefront.post("carts.json", {"market_id": shop.market.pk}))["cart"] for _ in range(2)
    )
    for cart in (source, target):
        ok(
            shop.storefront.post(
                f"carts/{cart['token']}/lines.json", {"variant_id": variant_id, "quantity": 1}
            )
        )
    ok(shop.storefront.put(f"carts/{source['token']}/customer.json", {"customer_id": customer["id"]}))

    merged = ok(
        shop.storefront.post(f"carts/{target['token']}/merge.json", {"source_cart_token": source["token"]})
    )["cart"]
    checkout = ok(shop.storefront.post("checkouts.json", {"cart_token": target["token"], "email": EMAIL}))[
        "checkout"
    ]
    for code in ("BIG", card["code"]):
        ok(shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code}))
    for step in PHASES[1:]:
        checkout = take_step(step, shop, checkout["token"], rate=rate)
    run_due()

    assert stocked["inventory_level"]["on_hand"] == 5 * 10**9
    assert (merged["customer_id"], merged["totals"]["total_cents"]) == (customer["id"], str(2 * PRICE))
    total = 2 * PRICE - 2**33 + 2**34
    assert checkout["totals"]["total_cents"] == str(total)
    assert checkout["totals"]["amount_due_cents"] == str(total - PRICE)
    assert int(checkout["id"]) > FIRST_ID
    path = f"customers/{customer['id']}.json"
    assert ok(shop.admin.get(path))["customer"]["total_spent_cents"] == str(total)
    order_path = f"orders/{checkout['order_id']}"
    assert ok(shop.admin.post(f"{order_path}/cancel.json", {}))["order"]["status"] == "cancelled"
    assert ok(shop.admin.get(path))["customer"]["total_spent_cents"] == "0"
    redeemed = ok(shop.admin.post("vouchers/redeem.json", {"code": card["code"], "amount_cents": 2**33}))[
        "voucher"
    ]
    assert redeemed["balance_cents"] == str(PRICE - 2**33)
    second = checkout_in("completed", shop, (factories.make_variant(shop, price_cents=PRICE), 3), rate=rate)
    ok(shop.admin.post(f"orders/{second['order_id']}/mark_paid.json", {}))
    ok(shop.admin.post(f"orders/{second['order_id']}/fulfill.json", {}))
    assert ok(shop.admin.get(path))["customer"]["total_spent_cents"] == str(3 * PRICE + 2**34)
    assert ok(shop.admin.post(f"customers/{customer['id']}/redact.json", {}))["customer"]["email"] is None
    run_due()


def test_cart_past_the_largest_amount_is_shown_and_refused_at_checkout(shop):
    variant = factories.make_variant(shop, price_cents=2**53 - 1, stock=None, track_inventory=False)
    token = cart_with(shop, (variant, 9999))

    shown = shop.storefront.get(f"carts/{token}.json")
    answer = shop.storefront.post("checkouts.json", {"cart_token": token, "email": EMAIL})

    assert shown.json()["cart"]["totals"]["total_cents"] == str((2**53 - 1) * 9999)
    assert (answer.status_code, answer.json()["code"]) == (422, "amount_too_large")


def test_largest_amount_is_sold(shop):
    variant = factories.make_variant(shop, price_cents=2**53 - 1)
    rate = factories.make_rate(shop, price_cents=0)

    completed = checkout_in("completed", shop, (variant, 1), rate=rate)

    assert completed["totals"]["total_cents"] == str(2**53 - 1)


def test_shipping_that_would_pass_the_largest_amount_is_refused(shop):
    variant = factories.make_variant(shop, price_cents=2**53 - 1)
    rate = factories.make_rate(shop, price_cents=1)
    checkout = enter_checkout(shop, (variant, 1))
    take_step("address", shop, checkout["token"], rate=rate)
    body = {"shipping_method_id": rate.method_id, "shipping_rate_id": rate.pk}

    answer = shop.storefront.put(f"checkouts/{checkout['token']}/shipping.json", body)

    assert (answer.status_code, answer.json()["code"]) == (422, "amount_too_large")
    again = {"shipping_address": ADDRESS, "same_as_shipping": True}
    assert shop.storefront.put(f"checkouts/{checkout['token']}/address.json", again).status_code == 200
