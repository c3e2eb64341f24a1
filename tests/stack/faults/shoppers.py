"""Shoppers who buy over HTTP, and retry if they get no answer."""

from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from time import sleep
from uuid import uuid4

import requests

from config.stack.bench.shop import Shop
from config.stack.client import Json
from config.stack.waiting import until_deadline
from config.versions import CURRENT_VERSION
from tests.storefront import ADDRESS

# Few, so that shoppers compete for the same stock.
_VARIANTS = 2
# A process that is killed in the middle of a request leaves its Idempotency-Key blocked for two minutes.
_PATIENCE_SECONDS = 240
_TIMEOUT_SECONDS = 30
_RETRY_SECONDS = 0.2
_UNANSWERED = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)


class Refused(Exception):
    """A response that a retry would not change, or none in time."""


@dataclass(frozen=True, kw_only=True)
class Purchase:
    order_id: str
    order_token: str
    email: str
    variant_id: int
    quantity: int


class Shopper:
    """A shopper who uses a new email address for every order."""

    def __init__(self, shop: Shop, *, base_url: str, name: str) -> None:
        self.shop = shop
        self.name = name
        self._root = f"{base_url}/storefront/{CURRENT_VERSION}"
        self._numbers = count()
        self._session = requests.Session()
        # The stack is local, so a proxy from the environment must not be used.
        self._session.trust_env = False
        self._session.headers["X-Storefront-Key"] = shop.storefront_key

    def buy(self) -> Purchase:
        """Go from an empty cart to an order. Raises `Refused`."""
        number = next(self._numbers)
        email = f"{self.name}-{number}@{mail_domain(self.shop)}"
        line = {"variant_id": self.shop.variant_ids[number % _VARIANTS], "quantity": number % 3 + 1}
        completed = self._pay(self._enter_checkout(line, email=email))
        return Purchase(
            order_id=completed["order_id"], order_token=completed["order_token"], email=email, **line
        )

    def order(self, token: str) -> Json:
        return self._send("GET", f"orders/{token}.json")["order"]

    def close(self) -> None:
        self._session.close()

    def _enter_checkout(self, line: Json, *, email: str) -> str:
        """Create a checkout with address and shipping; return its path."""
        cart = self._send("POST", "carts.json", {"market_id": self.shop.market_id})["cart"]
        self._send("POST", f"carts/{cart['token']}/lines.json", line)
        entry = {"cart_token": cart["token"], "email": email}
        path = f"checkouts/{self._send('POST', 'checkouts.json', entry)['checkout']['token']}"
        self._send("PUT", f"{path}/address.json", {"shipping_address": ADDRESS, "same_as_shipping": True})
        shipping = {"shipping_method_id": self.shop.method_id, "shipping_rate_id": self.shop.rate_id}
        self._send("PUT", f"{path}/shipping.json", shipping)
        return path

    def _pay(self, path: str) -> Json:
        self._send("PUT", f"{path}/payment_method.json", {"payment_method": "cod"})
        self._send("POST", f"{path}/start_payment.json", {})
        self._send("POST", f"{path}/confirm.json", {"callback_payload": {}})
        return self._send("POST", f"{path}/complete.json", {})["checkout"]

    def _send(self, method: str, path: str, body: Json | None = None) -> Json:
        """Send a request and return the document. Every try has the same Idempotency-Key. Raises `Refused`."""
        headers = {"Idempotency-Key": uuid4().hex}
        for _ in until_deadline(_PATIENCE_SECONDS, pause=lambda _: sleep(_RETRY_SECONDS)):
            with suppress(*_UNANSWERED):
                response = self._session.request(
                    method, f"{self._root}/{path}", json=body, headers=headers, timeout=_TIMEOUT_SECONDS
                )
                if response.ok:
                    return response.json()
                if not _is_worth_another_try(response):
                    raise Refused(f"{method} {path}: {response.status_code} {response.text}")
        raise Refused(f"{method} {path}: no answer within {_PATIENCE_SECONDS} s")


def mail_domain(shop: Shop) -> str:
    """Return the mail domain of all shoppers of the shop, which nobody else uses."""
    return f"{shop.handle}.example.com"


def _is_worth_another_try(response: requests.Response) -> bool:
    """Whether to retry: the database is away, or the previous try is still running; not after an internal error."""
    is_under_way = response.status_code == 409 and response.json()["code"] == "request_in_progress"
    return response.status_code == 503 or is_under_way
