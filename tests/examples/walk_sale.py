"""Shoppers buy: carts, checkouts, orders and their payments."""

from typing import Any

from tests.examples.walk_shop import ADDRESS, Walk


def fill_carts(walk: Walk, variant_id: str, customer_id: str) -> str:
    """Fill a cart, and merge another into it. Returns its token."""
    utm = {"source": "newsletter", "campaign": "summer"}
    wanted = {"market_id": walk.shop.market.pk, "utm": utm, "referrer": "https://news.example/summer"}
    cart = walk.storefront.do("POST", "carts.json", wanted)["cart"]
    path = f"carts/{cart['token']}"
    line = {"variant_id": int(variant_id), "quantity": 2, "custom_attributes": {"engraving": "Ada"}}
    added = walk.storefront.do("POST", f"{path}/lines.json", line)["cart"]["line_items"][0]
    walk.storefront.do("GET", f"{path}.json")
    walk.storefront.do("PATCH", f"{path}/lines/{added['id']}.json", {"quantity": 1})
    walk.storefront.do("PUT", f"{path}/customer.json", {"customer_id": int(customer_id)})
    plain = {"variant_id": int(variant_id), "quantity": 1}
    other = walk.storefront.do("POST", f"{path}/lines.json", plain)["cart"]["line_items"][-1]
    walk.storefront.do("DELETE", f"{path}/lines/{other['id']}.json")
    source = _fill_cart(walk, variant_id)
    walk.storefront.do("POST", f"{path}/merge.json", {"source_cart_token": source})
    return cart["token"]


def _fill_cart(walk: Walk, variant_id: str) -> str:
    cart = walk.storefront.do("POST", "carts.json", {"market_id": walk.shop.market.pk})["cart"]
    line = {"variant_id": int(variant_id), "quantity": 1}
    walk.storefront.do("POST", f"carts/{cart['token']}/lines.json", line)
    return cart["token"]


def buy(walk: Walk, cart_token: str, rate: dict[str, Any], *, code: str, card: str) -> dict[str, Any]:
    """Buy a cart with every step. Returns the completed checkout."""
    entered = {"cart_token": cart_token, "email": "ada@example.com"}
    checkout = walk.storefront.do("POST", "checkouts.json", entered)["checkout"]
    path = f"checkouts/{checkout['token']}"
    walk.storefront.do("GET", f"{path}.json")
    address = {"shipping_address": ADDRESS, "same_as_shipping": True, "customer_note": "Please ring twice."}
    walk.storefront.do("PUT", f"{path}/address.json", address)
    walk.storefront.do("PUT", f"{path}/vat.json", {"vat_country_code": "DE", "vat_number": "136695976"})
    walk.storefront.do("PUT", f"{path}/vat.json", {"vat_number": ""})
    walk.storefront.do("GET", f"{path}/shipping_quote.json")
    chosen = {"shipping_method_id": int(rate["method_id"]), "shipping_rate_id": int(rate["id"])}
    walk.storefront.do("PUT", f"{path}/shipping.json", chosen)
    walk.storefront.do("POST", f"{path}/discount.json", {"code": code})
    walk.storefront.do("POST", f"{path}/discount.json", {"code": card})
    walk.storefront.do("DELETE", f"{path}/discount/{card}.json")
    return _pay(walk, path)


def _pay(walk: Walk, path: str) -> dict[str, Any]:
    walk.storefront.do("PUT", f"{path}/payment_method.json", {"payment_method": "cod"})
    walk.storefront.do("POST", f"{path}/start_payment.json", {})
    walk.storefront.do("POST", f"{path}/confirm.json", {"callback_payload": {}})
    completed = walk.storefront.do("POST", f"{path}/complete.json", {}, idempotency_key=f"complete {path}")
    checkout: dict[str, Any] = completed["checkout"]
    return checkout


def buy_quickly(walk: Walk, variant_id: str, rate: dict[str, Any]) -> dict[str, Any]:
    entered = {"cart_token": _fill_cart(walk, variant_id), "email": "grace@example.com"}
    # The second checkout of a cart abandons the first.
    walk.storefront.do("POST", "checkouts.json", entered)
    checkout = walk.storefront.do("POST", "checkouts.json", entered)["checkout"]
    path = f"checkouts/{checkout['token']}"
    walk.storefront.do("PUT", f"{path}/address.json", {"shipping_address": ADDRESS})
    chosen = {"shipping_method_id": int(rate["method_id"]), "shipping_rate_id": int(rate["id"])}
    walk.storefront.do("PUT", f"{path}/shipping.json", chosen)
    # The first payment is given up.
    walk.storefront.do("PUT", f"{path}/payment_method.json", {"payment_method": "bank_transfer"})
    walk.storefront.do("POST", f"{path}/start_payment.json", {})
    walk.storefront.do("POST", f"{path}/confirm.json", {"callback_payload": {"cancel": True}})
    return _pay(walk, path)


def manage_orders(walk: Walk, first: dict[str, Any], second: dict[str, Any]) -> None:
    walk.storefront.do("GET", f"orders/{first['order_token']}.json")
    walk.admin.do("GET", "orders.json?status=open&limit=1")
    path = f"orders/{first['order_id']}"
    walk.admin.do("GET", f"{path}.json")
    walk.admin.do("POST", f"{path}/mark_paid.json")
    parcel = {
        "carrier": "DHL",
        "tracking_number": "00340434161094042557",
        "tracking_url": "https://www.dhl.example/00340434161094042557",
    }
    walk.admin.do("POST", f"{path}/fulfill.json", parcel)
    walk.admin.do("POST", f"orders/{second['order_id']}/cancel.json", {"reason": "Ordered by mistake."})
    payment = walk.admin.do("GET", f"payments.json?order_id={first['order_id']}")["payments"][0]
    walk.admin.do("GET", f"payments/{payment['id']}.json")
    walk.admin.do("GET", f"discount_redemptions.json?order_id={first['order_id']}")
