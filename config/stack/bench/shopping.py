"""The measured requests, with valid data, and a whole journey made of them."""

from collections.abc import Generator, Mapping
from itertools import count

from config.versions import CURRENT_VERSION

from .load import Client
from .messages import Answer, Request
from .shop import Shop

NOTHING = "nothing: a request without a key"
HEALTH = "GET /healthz, without Django"
MARKETS = "list of markets: key, scope, one row"
CREATE_CART = "create a cart"
ADD_LINE = "add a line to a cart of 3"
READ_CART = "read a cart of 10 lines"
ADMIN_QUOTE = "shipping quote of the admin API"
ENTER_CHECKOUT = "create a checkout of 3 lines"
SET_ADDRESS = "set the address"
APPLY_CODE = "apply a discount code"
CHECKOUT_QUOTE = "shipping quote of a checkout"
SET_SHIPPING = "set the shipping"
CHOOSE_PAYMENT = "choose the payment method"
START_PAYMENT = "start the payment"
CONFIRM = "confirm the payment"
COMPLETE = "complete: the order"

LINES_OF_JOURNEY = 3
STEPS_OF_JOURNEY = (
    CREATE_CART,
    *(ADD_LINE for _ in range(LINES_OF_JOURNEY)),
    ENTER_CHECKOUT,
    SET_ADDRESS,
    CHECKOUT_QUOTE,
    SET_SHIPPING,
    CHOOSE_PAYMENT,
    START_PAYMENT,
    CONFIRM,
    COMPLETE,
)
_ADDRESS = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "address1": "Torstraße 1",
    "city": "Berlin",
    "zip": "10115",
    "country_code": "DE",
    "phone": "+49 30 1234567",
}
_QUOTED = {
    "country_code": "DE",
    "zip": "10115",
    "weight_grams": 900,
    "subtotal_cents": 3570,
    "currency": "EUR",
}


class Shopping:
    """Builds requests to one shop."""

    def __init__(self, shop: Shop, *, host: str) -> None:
        self.shop = shop
        self._common = {"Host": host}
        self._strict = {"Host": host, "Prefer": "handling=strict"}
        self._numbers = count()

    def do_nothing(self) -> Request:
        """Ask the storefront for a version that doesn't exist.

        Such a request passes the server, all middleware and the URLs, and gets a short answer. It needs no key, opens
        no scope and sends no statement.
        """
        return Request.make(NOTHING, "GET /storefront/none/carts.json", headers=self._strict, refusal=404)

    def check_health(self) -> Request:
        return Request.make(HEALTH, "GET /healthz", headers=self._common)

    def list_markets(self) -> Request:
        return self._storefront(MARKETS, "GET markets.json")

    def quote_as_admin(self) -> Request:
        line = f"POST /admin/{CURRENT_VERSION}/{self.shop.handle}/shipping/quote.json"
        headers = self._strict | {"Authorization": f"Bearer {self.shop.admin_key}"}
        return Request.make(ADMIN_QUOTE, line, headers=headers, body=_QUOTED)

    def create_cart(self) -> Request:
        return self._storefront(CREATE_CART, "POST carts.json", {"market_id": self.shop.market_id})

    def read_cart(self, token: str) -> Request:
        return self._storefront(READ_CART, f"GET carts/{token}.json")

    def add_line(self, token: str) -> Request:
        """Add one unit of the next variant, so that carts differ and clients don't compete for the same stock."""
        variant_ids = self.shop.variant_ids
        body = {"variant_id": variant_ids[next(self._numbers) % len(variant_ids)], "quantity": 1}
        return self._storefront(ADD_LINE, f"POST carts/{token}/lines.json", body)

    def enter_checkout(self, cart_token: str) -> Request:
        body = {"cart_token": cart_token, "email": f"shopper-{next(self._numbers)}@example.com"}
        return self._storefront(ENTER_CHECKOUT, "POST checkouts.json", body)

    def set_address(self, token: str) -> Request:
        body = {"shipping_address": _ADDRESS, "same_as_shipping": True}
        return self._storefront(SET_ADDRESS, f"PUT checkouts/{token}/address.json", body)

    def apply_code(self, token: str) -> Request:
        body = {"code": self.shop.discount_code}
        return self._storefront(APPLY_CODE, f"POST checkouts/{token}/discount.json", body)

    def remove_code(self, token: str) -> Request:
        path = f"checkouts/{token}/discount/{self.shop.discount_code}.json"
        return self._storefront("remove a discount code", f"DELETE {path}")

    def quote(self, token: str) -> Request:
        return self._storefront(CHECKOUT_QUOTE, f"GET checkouts/{token}/shipping_quote.json")

    def set_shipping(self, token: str) -> Request:
        body = {"shipping_method_id": self.shop.method_id, "shipping_rate_id": self.shop.rate_id}
        return self._storefront(SET_SHIPPING, f"PUT checkouts/{token}/shipping.json", body)

    def choose_payment(self, token: str) -> Request:
        body = {"payment_method": "bank_transfer"}
        return self._storefront(CHOOSE_PAYMENT, f"PUT checkouts/{token}/payment_method.json", body)

    def start_payment(self, token: str) -> Request:
        return self._storefront(START_PAYMENT, f"POST checkouts/{token}/start_payment.json", {})

    def confirm(self, token: str) -> Request:
        return self._storefront(CONFIRM, f"POST checkouts/{token}/confirm.json", {"callback_payload": {}})

    def complete(self, token: str) -> Request:
        key = {"Idempotency-Key": f"bench-{token}"}
        return self._storefront(COMPLETE, f"POST checkouts/{token}/complete.json", {}, key)

    def _storefront(
        self,
        operation: str,
        line: str,
        body: Mapping[str, object] | None = None,
        more: dict[str, str] | None = None,
    ) -> Request:
        method, _, path = line.partition(" ")
        headers = self._strict | {"X-Storefront-Key": self.shop.storefront_key} | (more or {})
        return Request.make(
            operation, f"{method} /storefront/{CURRENT_VERSION}/{path}", headers=headers, body=body
        )


def journey(shopping: Shopping) -> Client:
    """Shop from an empty cart to an order."""
    token = yield from _enter_checkout(shopping)
    yield shopping.quote(token)
    yield shopping.set_shipping(token)
    yield shopping.choose_payment(token)
    yield shopping.start_payment(token)
    yield shopping.confirm(token)
    yield shopping.complete(token)


def one_of_each(shopping: Shopping) -> Client:
    """Run every measured operation at least once, in the state in which it is measured."""
    yield shopping.do_nothing()
    yield shopping.check_health()
    yield shopping.list_markets()
    yield shopping.quote_as_admin()
    cart = (yield shopping.create_cart()).token
    for _ in range(10):
        yield shopping.add_line(cart)
    yield shopping.read_cart(cart)
    token = yield from _enter_checkout(shopping)
    yield shopping.apply_code(token)
    # Last, so that its steps are counted without a discount.
    yield from journey(shopping)


def _enter_checkout(shopping: Shopping) -> Generator[Request, Answer, str]:
    """Shop from an empty cart to a checkout with an address, and return its token."""
    cart = (yield shopping.create_cart()).token
    for _ in range(LINES_OF_JOURNEY):
        yield shopping.add_line(cart)
    token = (yield shopping.enter_checkout(cart)).token
    yield shopping.set_address(token)
    return token
