"""A shop is set up: markets, keys, settings, stock, products, customers, shipping and discounts."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from discounts.vouchers.sweeping import expire_vouchers
from tests import factories
from tests.examples.recording import RecordingClient
from tests.nameserver import NameServer
from tests.shops import Shop

ADDRESS = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "address1": "Torstraße 1",
    "city": "Berlin",
    "zip": "10115",
    "country_code": "DE",
    "phone": "+49 30 1234567",
}


@dataclass(frozen=True)
class Walk:
    """The clients of a walk; `shop` has what the requests don't show."""

    shop: Shop
    admin: RecordingClient
    storefront: RecordingClient
    workspace: RecordingClient


def manage_accounts(walk: Walk, names: NameServer) -> None:
    hats = {
        "handle": "hats",
        "name": "Hats",
        "default_currency": "EUR",
        "default_locale": "de-DE",
        "default_timezone": "Europe/Berlin",
        "country_code": "DE",
        "vat_number": "DE123456789",
        "email_from": "hello@hats.example",
    }
    walk.workspace.do("POST", "accounts.json", hats)
    walk.workspace.do("GET", "accounts.json?include_archived=false&limit=20")
    walk.workspace.do("GET", "accounts/hats.json")
    walk.workspace.do("PUT", "accounts/hats.json", {"expected_version": 1, "name": "Hats & Caps"})
    shown = walk.workspace.do("GET", "accounts/hats/sender_domain.json")["sender_domain"]
    names.records.setdefault(shown["record"]["name"], []).append(shown["record"]["value"])
    walk.workspace.do("POST", "accounts/hats/sender_domain/verify.json")
    walk.workspace.do("DELETE", "accounts/hats.json")


def manage_settings(walk: Walk) -> None:
    settings = {
        "commerce.checkout.session_ttl_minutes": 90,
        "commerce.email.provider_webhook_secret": "provider-secret",
        "commerce.payments.stripe_secret_key": "sk_test_example",
        "commerce.payments.stripe_webhook_secret": "whsec_example",
    }
    walk.admin.do("PUT", "settings.json", {"settings": settings})
    walk.admin.do("GET", "settings.json")


def manage_keys(walk: Walk) -> None:
    wanted = {"kind": "admin", "name": "ERP", "scopes": ["read_orders", "write_inventory"]}
    key = walk.admin.do("POST", "api_keys.json", wanted)["api_key"]
    new = walk.admin.do("POST", f"api_keys/{key['id']}/rotate.json", {"grace_seconds": 3600})["api_key"]
    walk.admin.do("GET", "api_keys.json?limit=1")
    walk.admin.do("DELETE", f"api_keys/{new['id']}.json")


def manage_markets(walk: Walk) -> None:
    austria = {
        "handle": "at",
        "name": "Austria",
        "currency": "EUR",
        "locale": "de-AT",
        "country_code": "AT",
        "domain": "at.acme.example",
        "prices_include_tax": True,
    }
    market = walk.admin.do("POST", "markets.json", austria)["market"]
    walk.admin.do("GET", "markets.json")
    walk.admin.do("GET", f"markets/{market['id']}.json")
    walk.admin.do("PUT", f"markets/{market['id']}.json", {"name": "Österreich"})
    walk.admin.do("DELETE", f"markets/{market['id']}.json")
    walk.storefront.do("GET", "markets.json")


def manage_taxes(walk: Walk) -> None:
    standard = {"country_code": "DE", "tax_class": "standard", "rate_bp": 1900, "name": "MwSt."}
    walk.admin.do("POST", "tax_rates.json", standard)
    reduced = {"country_code": "DE", "tax_class": "reduced", "rate_bp": 500}
    rate = walk.admin.do("POST", "tax_rates.json", reduced)["tax_rate"]
    walk.admin.do("GET", "tax_rates.json")
    walk.admin.do("GET", f"tax_rates/{rate['id']}.json")
    walk.admin.do("PUT", f"tax_rates/{rate['id']}.json", {"rate_bp": 700})
    walk.admin.do("DELETE", f"tax_rates/{rate['id']}.json")


def manage_products(walk: Walk) -> tuple[str, str]:
    """Manage products. Returns the id of a variant that is in stock, and that of its product."""
    market_id = walk.shop.market.pk
    shirt = {
        "handle": "linen-shirt",
        "title": "Linen shirt",
        "description": "Light, for hot days.",
        "status": "active",
        "variants": [
            {
                "sku": "SHIRT-M",
                "title": "M",
                "weight_grams": 240,
                "tax_class": "standard",
                "pricing": [{"market_id": market_id, "price_cents": 4990, "compare_at_price_cents": 5990}],
            }
        ],
    }
    product = walk.admin.do("POST", "products.json", shirt)["product"]
    variant = product["variants"][0]
    walk.admin.do("GET", "products.json?status=active&limit=20")
    walk.admin.do("GET", f"products/{product['id']}.json")
    walk.admin.do("PUT", f"products/{product['id']}.json", {"title": "Linen shirt, white"})
    large = {"sku": "SHIRT-L", "title": "L", "weight_grams": 260}
    other = walk.admin.do("POST", f"products/{product['id']}/variants.json", large)["variant"]
    walk.admin.do("GET", f"products/{product['id']}/variants.json")
    walk.admin.do("GET", f"variants/{variant['id']}.json")
    walk.admin.do("PUT", f"variants/{variant['id']}.json", {"weight_grams": 250})
    pricing = f"variants/{variant['id']}/pricing/{market_id}.json"
    walk.admin.do("PUT", pricing, {"price_cents": 4490, "compare_at_price_cents": 5990})
    walk.admin.do("GET", pricing)
    walk.admin.do("DELETE", f"variants/{other['id']}.json")
    draft = walk.admin.do("POST", "products.json", {"handle": "cap", "title": "Cap", "status": "draft"})[
        "product"
    ]
    walk.admin.do("DELETE", f"products/{draft['id']}.json")
    walk.storefront.do("GET", f"products.json?market_id={market_id}")
    walk.storefront.do("GET", f"products/{product['id']}.json?market_id={market_id}")
    return variant["id"], product["id"]


def manage_stock(walk: Walk, variant_id: str) -> None:
    location = walk.admin.do("POST", "locations.json", {"handle": "berlin", "name": "Berlin", "priority": 2})
    location_id = location["location"]["id"]
    walk.admin.do("GET", "locations.json")
    walk.admin.do("GET", f"locations/{location_id}.json")
    walk.admin.do("PUT", f"locations/{location_id}.json", {"priority": 1})
    main = walk.admin.do("GET", "locations.json")["locations"][-1]
    walk.admin.do("PUT", f"locations/{main['id']}.json", {"is_active": False})
    received = {
        "variant_id": int(variant_id),
        "location_id": int(location_id),
        "delta": 100,
        "reason": "received",
    }
    walk.admin.do("POST", "inventory_levels/adjust.json", received, idempotency_key="receipt-7")
    walk.admin.do("GET", f"inventory_levels.json?variant_id={variant_id}")


def manage_customers(walk: Walk) -> str:
    """Manage customers. Returns the id of one."""
    ada = {
        "email": "ada@example.com",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "locale": "en-GB",
        "country_code": "GB",
        "tags": ["vip"],
    }
    customer = walk.admin.do("POST", "customers.json", ada)["customer"]
    path = f"customers/{customer['id']}"
    walk.admin.do("GET", "customers.json?email=ada@example.com")
    walk.admin.do("GET", f"{path}.json")
    walk.admin.do("PUT", f"{path}.json", {"tags": ["vip", "wholesale"]})
    unwanted = {"notification_preferences": {"order.shipped": False}}
    walk.admin.do("PUT", f"{path}/notification_preferences.json", unwanted)
    walk.admin.do("GET", f"{path}/notification_preferences.json")
    gone = walk.admin.do("POST", "customers.json", {"email": "bob@example.com"})["customer"]
    walk.admin.do("POST", f"customers/{gone['id']}/redact.json")
    regulars = {
        "handle": "regulars",
        "name": "Regulars",
        "filter": {"all": [{"field": "orders_count", "op": "gte", "value": 3}]},
    }
    segment = walk.admin.do("POST", "segments.json", regulars)["segment"]
    walk.admin.do("GET", "segments.json")
    walk.admin.do("GET", f"segments/{segment['id']}.json")
    walk.admin.do("PUT", f"segments/{segment['id']}.json", {"name": "Regular customers"})
    walk.admin.do("DELETE", f"segments/{segment['id']}.json")
    return customer["id"]


def manage_shipping(walk: Walk) -> dict[str, Any]:
    """Manage shipping. Returns a rate to choose."""
    zone = {"handle": "germany", "name": "Germany", "country_codes": ["DE"], "zip_patterns": ["1*", "20095"]}
    zone_id = walk.admin.do("POST", "shipping/zones.json", zone)["zone"]["id"]
    walk.admin.do("GET", "shipping/zones.json")
    walk.admin.do("GET", f"shipping/zones/{zone_id}.json")
    walk.admin.do("PUT", f"shipping/zones/{zone_id}.json", {"zip_patterns": []})
    parcel = {
        "handle": "parcel",
        "name": "Parcel",
        "zone_id": int(zone_id),
        "carrier": "dhl",
        "service_code": "parcel",
        "rate_mode": "tiered",
        "is_cod_compatible": True,
        "estimated_days_min": 1,
        "estimated_days_max": 3,
        "cod_fee_cents": 200,
    }
    method_id = walk.admin.do("POST", "shipping/methods.json", parcel)["method"]["id"]
    tier = {"price_cents": 490, "currency": "EUR", "max_weight_grams": 5000}
    rate = walk.admin.do("POST", f"shipping/methods/{method_id}/rates.json", tier)["rate"]
    free = {"price_cents": 0, "currency": "EUR", "min_subtotal_cents": 50000}
    other = walk.admin.do("POST", f"shipping/methods/{method_id}/rates.json", free)["rate"]
    walk.admin.do("GET", "shipping/methods.json")
    walk.admin.do("GET", f"shipping/methods/{method_id}.json")
    walk.admin.do("PUT", f"shipping/methods/{method_id}.json", {"estimated_days_max": 2})
    walk.admin.do("GET", f"shipping/methods/{method_id}/rates.json")
    walk.admin.do("GET", f"shipping/rates/{rate['id']}.json")
    walk.admin.do("PUT", f"shipping/rates/{rate['id']}.json", {"price_cents": 390})
    asked = {
        "country_code": "DE",
        "zip": "10115",
        "weight_grams": 500,
        "subtotal_cents": 8980,
        "currency": "EUR",
    }
    walk.admin.do("POST", "shipping/quote.json", asked)
    walk.admin.do("DELETE", f"shipping/rates/{other['id']}.json")
    empty = walk.admin.do("POST", "shipping/zones.json", zone | {"handle": "empty"})["zone"]
    unused = parcel | {"handle": "unused", "zone_id": int(empty["id"])}
    unused_id = walk.admin.do("POST", "shipping/methods.json", unused)["method"]["id"]
    walk.admin.do("DELETE", f"shipping/methods/{unused_id}.json")
    walk.admin.do("DELETE", f"shipping/zones/{empty['id']}.json")
    factories.make_pickup_point(
        carrier="packeta", external_id="95", name="Späti am Eck", address1="Torstraße 7", city="Berlin"
    )
    query = "carrier=packeta&country_code=DE&postcode_prefix=101&limit=20"
    walk.workspace.do("GET", f"shipping/pickup-points.json?{query}")
    walk.storefront.do("GET", f"pickup-points.json?{query}")
    return rate


def manage_discounts(walk: Walk) -> str:
    """Manage discounts. Returns the code of one."""
    summer = {
        "type": "discount_code",
        "code": "SUMMER",
        "title": "Ten per cent off",
        "value_mode": "percentage",
        "value_amount": 1000,
        "applies_to": "order",
        "stackable": False,
        "minimum_order_subtotal_cents": 2000,
        "currency": "EUR",
        "usage_limit_per_customer": 1,
        "ends_at": "2030-08-31T22:00:00Z",
    }
    discount = walk.admin.do("POST", "discounts.json", summer)["discount"]
    walk.admin.do("GET", "discounts.json?status=active")
    walk.admin.do("GET", f"discounts/{discount['id']}.json")
    walk.admin.do("PUT", f"discounts/{discount['id']}.json", {"usage_limit_total": 500})
    tiers = {
        "scope": "line",
        "tiers": [{"min_quantity": 10, "value_mode": "percentage", "value_amount": 500}],
    }
    bulk = {"type": "bulk_pricing", "title": "From ten on", "bulk_tiers": tiers}
    other = walk.admin.do("POST", "discounts.json", bulk)["discount"]
    walk.admin.do("DELETE", f"discounts/{other['id']}.json")
    return discount["code"]


def manage_vouchers(walk: Walk) -> str:
    """Manage gift cards. Returns the code of one with a balance."""
    wanted = {
        "initial_balance_cents": 5000,
        "currency": "EUR",
        "recipient_email": "ada@example.com",
        "expires_at": "2030-12-31T23:00:00Z",
        "send_email": True,
    }
    voucher = walk.admin.do("POST", "vouchers.json", wanted, idempotency_key="gift-7")["voucher"]
    walk.admin.do("GET", "vouchers.json?status=active")
    taken = {"code": voucher["code"], "amount_cents": 1500}
    walk.admin.do("POST", "vouchers/redeem.json", taken, idempotency_key="redeem-7")
    walk.admin.do("GET", f"vouchers/{voucher['id']}.json")
    small = {"initial_balance_cents": 1000, "currency": "EUR"}
    spent = walk.admin.do("POST", "vouchers.json", small)["voucher"]
    walk.admin.do("POST", "vouchers/redeem.json", {"code": spent["code"], "amount_cents": 1000})
    lost = walk.admin.do("POST", "vouchers.json", small)["voucher"]
    walk.admin.do("DELETE", f"vouchers/{lost['id']}.json")
    stolen = walk.admin.do("POST", "vouchers.json", small)["voucher"]
    walk.admin.do("POST", f"vouchers/{stolen['id']}/revoke.json", {"reason": "Paid with a stolen card."})
    walk.admin.do("GET", f"voucher_redemptions.json?voucher_id={voucher['id']}")
    overdue = walk.admin.do("POST", "vouchers.json", small | {"expires_at": "2030-12-31T23:00:00Z"})[
        "voucher"
    ]
    with walk.shop.scope():
        expire_vouchers(voucher_ids=[int(overdue["id"])], now=datetime(2031, 1, 1, tzinfo=UTC))
    return voucher["code"]
