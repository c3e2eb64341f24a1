"""Sends the first requests of a process, and prints what each still had to load. Run with a shop's ids on stdin."""

import io
import json
import sys

from config.rsgi import application
from config.versions import CURRENT_VERSION

shop = json.load(sys.stdin)


def send(method: str, path: str, body: object = None, **headers: str) -> dict:
    """Send a request, and print the modules that it imported or that it built the URLs."""
    from django.urls import get_resolver

    content = b"" if body is None else json.dumps(body).encode()
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(content),
        "wsgi.errors": sys.stderr,
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(content)),
        **headers,
    }
    statuses: list[str] = []
    known, had_urls = set(sys.modules), get_resolver()._populated
    answer = b"".join(application._wsgi(environ, lambda status, *_: statuses.append(status)))
    late = sorted(sys.modules.keys() - known) + ([] if had_urls else ["the URLs"])
    if late or not statuses[0].startswith("20"):
        print(method, path, statuses[0], *late)  # noqa: T201  the test reads it
    return json.loads(answer) if answer.startswith(b"{") else {}


def shop_for_something() -> None:
    """From the storefront's first request to an order, which the admin API lists."""
    root, key = f"/storefront/{CURRENT_VERSION}", {"HTTP_X_STOREFRONT_KEY": shop["storefront_key"]}
    cart = send("POST", f"{root}/carts.json", {"market_id": shop["market_id"]}, **key)["cart"]["token"]
    send("POST", f"{root}/carts/{cart}/lines.json", {"variant_id": shop["variant_id"], "quantity": 1}, **key)
    send("GET", f"{root}/carts/{cart}.json", **key)
    entry = {"cart_token": cart, "email": "ada@example.com"}
    token = send("POST", f"{root}/checkouts.json", entry, **key)["checkout"]["token"]
    path = f"{root}/checkouts/{token}"
    address = {"shipping_address": shop["address"], "same_as_shipping": True}
    send("PUT", f"{path}/address.json", address, **key)
    send("GET", f"{path}/shipping_quote.json", **key)
    send("PUT", f"{path}/shipping.json", shop["shipping"], **key)
    send("PUT", f"{path}/payment_method.json", {"payment_method": "bank_transfer"}, **key)
    send("POST", f"{path}/start_payment.json", {}, **key)
    send("POST", f"{path}/confirm.json", {"callback_payload": {}}, **key)
    send("POST", f"{path}/complete.json", {}, **key, HTTP_IDEMPOTENCY_KEY="first")
    admin = {"HTTP_AUTHORIZATION": f"Bearer {shop['admin_key']}"}
    send("GET", f"/admin/{CURRENT_VERSION}/{shop['handle']}/orders.json", **admin)


send("GET", "/healthz")
send("GET", "/readyz")
send("GET", "/backoffice/login/")
shop_for_something()
