"""A shopper's steps from an empty cart to an order, over the storefront API."""

from typing import Any

from commerce.catalog.models import Variant
from shipping.models import ShippingRate
from tests import factories
from tests.shops import Shop

EMAIL = "ada@example.com"
ADDRESS = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "address1": "Torstraße 1",
    "city": "Berlin",
    "zip": "10115",
    "country_code": "DE",
    "phone": "+49 30 1234567",
}
PHASES = ("pending", "address", "shipping", "payment", "processing", "ready", "completed")


def cart_with(shop: Shop, *lines: tuple[Variant, int], market_id: int | None = None) -> str:
    """Create a cart with these `(variant, quantity)` lines, and return its token."""
    token = shop.storefront.post("carts.json", {"market_id": market_id or shop.market.pk}).json()["cart"][
        "token"
    ]
    for variant, quantity in lines:
        body = {"variant_id": variant.pk, "quantity": quantity}
        answer = shop.storefront.post(f"carts/{token}/lines.json", body)
        assert answer.status_code == 200, answer.content
    return token


def enter_checkout(shop: Shop, *lines: tuple[Variant, int]) -> dict[str, Any]:
    """Create a checkout, in the phase pending."""
    answer = shop.storefront.post("checkouts.json", {"cart_token": cart_with(shop, *lines), "email": EMAIL})
    assert answer.status_code == 201, answer.content
    return answer.json()["checkout"]


def checkout_in(
    phase: str,
    shop: Shop,
    *lines: tuple[Variant, int],
    rate: ShippingRate | None = None,
    payment_method: str = "cod",
) -> dict[str, Any]:
    """Create a checkout and take it to this phase; `ready` is processing with a confirmed payment."""
    rate = rate or factories.make_rate(shop)
    checkout = enter_checkout(shop, *lines)
    for step in PHASES[1 : PHASES.index(phase) + 1]:
        checkout = take_step(step, shop, checkout["token"], rate=rate, payment_method=payment_method)
    return checkout


def take_step(
    phase: str, shop: Shop, token: str, *, rate: ShippingRate, payment_method: str = "cod"
) -> dict[str, Any]:
    """Send the operation that leads to this phase, with valid data."""
    path = f"checkouts/{token}"
    shopper = shop.storefront
    shipping = {"shipping_method_id": rate.method_id, "shipping_rate_id": rate.pk}
    steps = {
        "address": lambda: shopper.put(
            f"{path}/address.json", {"shipping_address": ADDRESS, "same_as_shipping": True}
        ),
        "shipping": lambda: shopper.put(f"{path}/shipping.json", shipping),
        "payment": lambda: shopper.put(f"{path}/payment_method.json", {"payment_method": payment_method}),
        "processing": lambda: shopper.post(f"{path}/start_payment.json", {}),
        "ready": lambda: shopper.post(f"{path}/confirm.json", {"callback_payload": {}}),
        "completed": lambda: shopper.post(f"{path}/complete.json", {}, idempotency_key=f"complete-{token}"),
    }
    answer = steps[phase]()
    assert answer.status_code == 200, answer.content
    return answer.json()["checkout"]
