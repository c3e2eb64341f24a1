"""Creates separate shops for the measurements, with more stock than they can sell."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from config.stack.client import ApiClient
from config.stack.running import RunningStack

_VARIANTS = 100
_UNITS = 1_000_000
_PRICE_CENTS = 1190
_TAX_RATE_BP = 1900


@dataclass(frozen=True, kw_only=True)
class Shop:
    """The ids and keys that requests to the shop need."""

    handle: str
    admin_key: str
    storefront_key: str
    market_id: int
    variant_ids: list[int]
    method_id: int
    rate_id: int
    discount_code: str


@contextmanager
def opened_shops(stack: RunningStack, number: int) -> Iterator[list[Shop]]:
    """Create shops, each in an account of its own, and archive them at the end. Their orders are kept."""
    with ExitStack() as archived:
        shops = []
        for _ in range(number):
            shops.append(open_shop(stack))
            archived.callback(_close_shop, stack, shops[-1])
        yield shops


def open_shop(stack: RunningStack) -> Shop:
    """Create the account and its data over the admin API."""
    directory, workspace_key = _find_directory(stack)
    # A new one each time, as the handle of an archived shop stays taken.
    handle = f"bench-{uuid4().hex[:12]}"
    directory.post("accounts.json", {"handle": handle, "name": "Bench", "default_currency": "EUR"})
    admin = ApiClient.admin(stack.base_url, handle, workspace_key)
    keys = {
        kind: admin.post("api_keys.json", {"kind": kind, "name": "bench"})["api_key"]["secret"]
        for kind in ("admin", "storefront")
    }
    market = {"handle": "de", "name": "Germany", "currency": "EUR", "locale": "de-DE", "country_code": "DE"}
    market_id = _read_id(admin.post("markets.json", market), "market")
    admin.post("tax_rates.json", {"country_code": "DE", "rate_bp": _TAX_RATE_BP, "name": "Standard"})
    method_id, rate_id = _offer_shipping(admin)
    return Shop(
        handle=handle,
        admin_key=keys["admin"],
        storefront_key=keys["storefront"],
        market_id=market_id,
        variant_ids=_stock_variants(admin, market_id),
        method_id=method_id,
        rate_id=rate_id,
        discount_code=_offer_discount(admin),
    )


def _close_shop(stack: RunningStack, shop: Shop) -> None:
    directory, _ = _find_directory(stack)
    directory.delete(f"accounts/{shop.handle}.json")


def _find_directory(stack: RunningStack) -> tuple[ApiClient, str]:
    """Return a client of the workspace's accounts, and the workspace key that it uses."""
    workspace_key = stack.demo["workspaces"][0]["workspace_key"]
    return ApiClient.admin(stack.base_url, "", workspace_key), workspace_key


def _offer_shipping(admin: ApiClient) -> tuple[int, int]:
    """Create a shipping method and its rate, and return their ids."""
    zone = {"handle": "germany", "name": "Germany", "country_codes": ["DE"]}
    method = {
        "handle": "parcel",
        "name": "Parcel",
        "zone_id": _read_id(admin.post("shipping/zones.json", zone), "zone"),
        "carrier": "dhl",
        "service_code": "parcel",
        "rate_mode": "tiered",
        "is_cod_compatible": True,
    }
    method_id = _read_id(admin.post("shipping/methods.json", method), "method")
    rate = admin.post(f"shipping/methods/{method_id}/rates.json", {"price_cents": 490, "currency": "EUR"})
    return method_id, _read_id(rate, "rate")


def _offer_discount(admin: ApiClient) -> str:
    """Create a discount of 10 % off the order, and return its code."""
    discount = {
        "type": "discount_code",
        "code": "TEN",
        "title": "10 % off",
        "value_mode": "percentage",
        "value_amount": 1000,
    }
    code: str = admin.post("discounts.json", discount)["discount"]["code"]
    return code


def _stock_variants(admin: ApiClient, market_id: int) -> list[int]:
    pricing = [{"market_id": market_id, "price_cents": _PRICE_CENTS}]
    variants = [
        {"sku": f"BENCH-{number}", "weight_grams": 300, "pricing": pricing} for number in range(_VARIANTS)
    ]
    product = {"handle": "bench", "title": "Bench", "variants": variants}
    ids = [int(variant["id"]) for variant in admin.post("products.json", product)["product"]["variants"]]
    location_id = int(admin.get("locations.json")["locations"][0]["id"])
    for variant_id in ids:
        level = {"variant_id": variant_id, "location_id": location_id, "delta": _UNITS, "reason": "count"}
        admin.post("inventory_levels/adjust.json", level)
    return ids


def _read_id(answer: dict[str, Any], resource: str) -> int:
    return int(answer[resource]["id"])
