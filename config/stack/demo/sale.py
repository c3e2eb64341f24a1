"""The steps of a purchase, in a shopper's order."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from config.stack.client import ApiClient, Json
from config.stack.errors import StackError
from config.stack.running import RunningStack
from config.stack.waiting import until_deadline

from . import summaries

EMAIL = "ada@example.com"
QUANTITIES = (2, 1, 1)
_EMAIL_SECONDS = 30
_POLL_SECONDS = 0.25
# Street, city and postcode.
_PLACES = {
    "AT": ("Mariahilfer Straße 1", "Wien", "1060"),
    "DE": ("Torstraße 1", "Berlin", "10115"),
    "FR": ("Rue de Rivoli 1", "Paris", "75001"),
    "SK": ("Hlavná 1", "Bratislava", "811 01"),
}
_ELSEWHERE = ("High Street 1", "Newtown", "10000")


@dataclass(frozen=True, kw_only=True)
class Sale:
    """A shop's storefront and admin API, one of its markets, and the folder that its mail goes to."""

    storefront: ApiClient
    admin: ApiClient
    shop: Json
    market: Json
    mail_dir: Path

    @classmethod
    def in_first_euro_market(cls, stack: RunningStack) -> "Sale":
        """Choose the first market that sells in euros. Raises `StackError` if there is none."""
        shops = [shop for workspace in stack.demo["workspaces"] for shop in workspace["accounts"]]
        for shop in shops:
            for market in shop["markets"]:
                if market["currency"] == "EUR":
                    return cls(
                        storefront=ApiClient.storefront(stack.base_url, shop["storefront_key"]),
                        admin=ApiClient.admin(stack.base_url, shop["handle"], shop["admin_key"]),
                        shop=shop,
                        market=market,
                        mail_dir=Path(stack.demo["mail_dir"]),
                    )
        raise StackError(f"No shop in {stack.data.demo} has a market in EUR.")


def sell(sale: Sale) -> None:
    """Take every step and print it. Raises `StackError` with the problem document of a refusal."""
    print(f"A sale in the shop {sale.shop['handle']}, market {sale.market['handle']}:\n")
    cart = _fill_cart(sale)
    checkout = _enter_checkout(sale, cart)
    checkout = _choose_shipping(sale, checkout)
    _pay(sale, checkout)
    completed = _complete(sale, checkout)
    order = sale.storefront.get(f"orders/{completed['order_token']}.json", summaries.order)["order"]
    delivery = _await_confirmation(sale, order["id"])
    print(f"\n{summaries.receipt(order)}\n")
    # The files that the local email provider wrote; there are none if another provider is configured.
    name = delivery["provider_message_id"].strip("<>").partition("@")[0]
    for path in (sale.mail_dir / f"{name}.html", sale.mail_dir / f"{name}.eml"):
        if path.exists():
            print(f"The confirmation: {path}")


def _fill_cart(sale: Sale) -> Json:
    market_id = int(sale.market["id"])
    answer = sale.storefront.get(f"products.json?market_id={market_id}", summaries.products)
    offers = [product["variants"][0] for product in answer["products"] if product["variants"]]
    if not offers:
        raise StackError("The market has no products.")
    cart = sale.storefront.post("carts.json", {"market_id": market_id}, summaries.cart)["cart"]
    for offer, quantity in zip(offers, QUANTITIES, strict=False):
        line = {"variant_id": int(offer["id"]), "quantity": quantity}
        cart = sale.storefront.post(f"carts/{cart['token']}/lines.json", line, summaries.cart)["cart"]
    return cart


def _enter_checkout(sale: Sale, cart: Json) -> Json:
    entry = {"cart_token": cart["token"], "email": EMAIL}
    checkout = sale.storefront.post("checkouts.json", entry, summaries.checkout)["checkout"]
    country_code = sale.market["country_code"]
    address1, city, postcode = _PLACES.get(country_code, _ELSEWHERE)
    address = {
        "first_name": "Ada",
        "last_name": "Lovelace",
        "address1": address1,
        "city": city,
        "zip": postcode,
        "country_code": country_code,
        "phone": "+49 30 1234567",
    }
    destination = {"shipping_address": address, "same_as_shipping": True}
    path = f"checkouts/{checkout['token']}/address.json"
    return sale.storefront.put(path, destination, summaries.checkout)["checkout"]


def _choose_shipping(sale: Sale, checkout: Json) -> Json:
    path = f"checkouts/{checkout['token']}"
    quotes = sale.storefront.get(f"{path}/shipping_quote.json", summaries.quotes)["quotes"]
    option, point = _choose_option(sale, quotes, checkout["shipping_address"])
    choice = {
        "shipping_method_id": int(option["method"]["id"]),
        "shipping_rate_id": int(option["rate_id"]),
        "pickup_point_id": int(point["id"]) if point else None,
    }
    return sale.storefront.put(f"{path}/shipping.json", choice, summaries.checkout)["checkout"]


def _choose_option(sale: Sale, quotes: Sequence[Json], address: Json) -> tuple[Json, Json | None]:
    """Choose a nearby pickup point if there is one, else the first (cheapest) delivery to the door."""
    for option in quotes:
        if option["method"]["requires_pickup_point"] and (point := _find_point(sale, option, address)):
            return option, point
    for option in quotes:
        if not option["method"]["requires_pickup_point"]:
            return option, None
    raise StackError(
        f"The shop doesn't ship to {address['zip']} {address['city']}, {address['country_code']}."
    )


def _find_point(sale: Sale, option: Json, address: Json) -> Json | None:
    """Find a pickup point of the option's carrier whose postcode starts like the address's."""
    carrier, country_code, area = option["method"]["carrier"], address["country_code"], address["zip"][:2]
    query = f"carrier={carrier}&country_code={country_code}&postcode_prefix={area}&limit=1"
    points = sale.storefront.get(f"pickup-points.json?{query}", summaries.pickup_points)["pickup_points"]
    return points[0] if points else None


def _pay(sale: Sale, checkout: Json) -> None:
    path = f"checkouts/{checkout['token']}"
    # Some pickup points, such as lockers, take no cash.
    point = checkout["pickup_point"]
    takes_cash = checkout["shipping_method"]["is_cod_compatible"] and (not point or point["is_cod_supported"])
    method = {"payment_method": "cod" if takes_cash else "bank_transfer"}
    sale.storefront.put(f"{path}/payment_method.json", method, summaries.checkout)
    sale.storefront.post(f"{path}/start_payment.json", {}, summaries.payment_attempt)
    sale.storefront.post(f"{path}/confirm.json", {"callback_payload": {}}, summaries.checkout)


def _complete(sale: Sale, checkout: Json) -> Json:
    """Complete it twice, like a client that lost the first answer. The idempotency key makes it one order."""
    path, key = f"checkouts/{checkout['token']}/complete.json", f"demo-{checkout['token']}"
    completed = sale.storefront.post(path, {}, summaries.completion, idempotency_key=key)
    replayed = sale.storefront.post(path, {}, summaries.completion, idempotency_key=key)
    if replayed != completed:
        raise StackError("The repeated completion got a different answer.")
    return completed["checkout"]


def _await_confirmation(sale: Sale, order_id: str) -> Json:
    """Wait for the delivery of the order's email. Raises `StackError` if the worker doesn't send it in time."""
    path = f"email/deliveries.json?reference_type=order&reference_id={order_id}"
    for _ in until_deadline(_EMAIL_SECONDS, pause=lambda _: time.sleep(_POLL_SECONDS)):
        if deliveries := sale.admin.get(path)["email_deliveries"]:
            path = f"email/deliveries/{deliveries[0]['id']}.json"
            return sale.admin.get(path, summaries.delivery)["email_delivery"]
    raise StackError(f"No confirmation was sent within {_EMAIL_SECONDS} s. The worker's log may say why.")
