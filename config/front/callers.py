"""Tells whose request it is, and which cart or checkout it names, before Django handles it."""

import re
from typing import Any

import orjson
from django.conf import settings

from commerce.client_address import address_of
from config.front.bodies import KEPT_IN_MEMORY, Body

_WITH_TOKEN = re.compile(r"/storefront/[^/]+/(?:carts|checkouts)/([^/]+?)(?:\.json)?(?:/|$)")
_ENTRY = re.compile(r"/storefront/[^/]+/checkouts\.json")
# Longer than any key or token.
_LONGEST_NAME = 100
# Bodies that are too large to be looked into share one name, so that nobody gains by sending those.
_LARGE = "a large body"


def caller_of(scope: Any) -> str:
    """Return the request's key for its surface, valid or not; without a key, the client's address.

    Only the header that the surface reads counts, so that a client can't pretend to be many by varying another one.
    """
    headers = scope.headers
    path = scope.path
    if path.startswith("/storefront/"):
        key = headers.get("x-storefront-key", "")
    elif path.startswith("/admin/"):
        key = headers.get("authorization", "").partition(" ")[2].strip()
    else:
        key = ""
    return f"key {key[:_LONGEST_NAME]}" if key else f"address {_address_of(scope)}"


def target_of(scope: Any, body: Body) -> str | None:
    """Return the token of the cart or checkout that a storefront request names."""
    path = scope.path
    if not path.startswith("/storefront/"):
        return None
    if found := _WITH_TOKEN.match(path):
        return found[1][:_LONGEST_NAME]
    if scope.method == "POST" and _ENTRY.fullmatch(path):
        return _cart_token_in(body)
    return None


def _cart_token_in(body: Body) -> str | None:
    """Find the token in a JSON body. Parses it like the view, so that both see the same token."""
    if body.length > KEPT_IN_MEMORY:
        return _LARGE
    content = body.file.read()
    body.file.seek(0)
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    token = document.get("cart_token") if isinstance(document, dict) else None
    return token[:_LONGEST_NAME] if isinstance(token, str) else None


def _address_of(scope: Any) -> str:
    forwarded = ""
    if settings.BEHIND_TLS_PROXY:
        forwarded = ",".join(value for name, value in scope.headers.items() if name == "x-forwarded-for")
    return address_of(forwarded, peer=scope.client.rpartition(":")[0].strip("[]"))
