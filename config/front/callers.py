"""Tells whose request it is, and which cart or checkout it names, before Django handles it.

Reads what Django will read: the WSGI environment, so that both see the same key, path and address.
"""

import re
from typing import NamedTuple
from wsgiref.types import WSGIEnvironment

import orjson
from django.conf import settings

from accounts.authentication import find_cached_principal, read_secret
from commerce.client_address import address_of
from commerce.tokens import read_token
from config.front.bodies import KEPT_IN_MEMORY, Body

_WITH_TOKEN = re.compile(r"/storefront/[^/]+/(?:carts|checkouts)/([^/]+?)(?:\.json)?(?:/|$)")
_ENTRY = re.compile(r"/storefront/[^/]+/checkouts\.json")
_OF_ACCOUNT = re.compile(r"/admin/[^/]+/([^/]+)/")
# Longer than any token.
_LONGEST_NAME = 100


class Caller(NamedTuple):
    name: str
    # Its queue: one for each surface.
    lane: str


def identify_caller(environ: WSGIEnvironment) -> Caller:
    """The shop if this process knows the request's key for its surface, else the client's address.

    Unknown keys don't count, as anybody can make them up, nor do headers that the surface doesn't read.
    """
    path = environ["PATH_INFO"]
    surface = next((name for name in ("storefront", "admin") if path.startswith(f"/{name}/")), "")
    name = _name_shop(environ, surface) if surface else None
    if name is None:
        forwarded = environ.get("HTTP_X_FORWARDED_FOR", "") if settings.BEHIND_TLS_PROXY else ""
        name = f"address {address_of(forwarded, peer=environ['REMOTE_ADDR'])}"
    return Caller(name, surface)


def _name_shop(environ: WSGIEnvironment, surface: str) -> str | None:
    secret = read_secret(environ, surface)
    named = _OF_ACCOUNT.match(environ["PATH_INFO"])
    handle = named[1] if named else None
    principal = find_cached_principal(secret, surface=surface, handle=handle) if secret else None
    if principal is None:
        return None
    account_id = principal.account_id
    return f"workspace {principal.workspace_id}" if account_id is None else f"account {account_id}"


def find_target(environ: WSGIEnvironment) -> str | None:
    """Return the token of the cart or checkout in a storefront request's path."""
    found = _WITH_TOKEN.match(environ["PATH_INFO"])
    return found[1][:_LONGEST_NAME] if found else None


def names_cart_in_body(environ: WSGIEnvironment) -> bool:
    return environ["REQUEST_METHOD"] == "POST" and _ENTRY.fullmatch(environ["PATH_INFO"]) is not None


def is_slow_to_parse(body: Body) -> bool:
    """Whether the body is too large to be parsed on the event loop."""
    return body.length > KEPT_IN_MEMORY


def read_cart_token(body: Body) -> str | None:
    """Find the token in a JSON body. Parses it like the view, so that both see the same token."""
    content = body.file.read()
    body.file.seek(0)
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    token = read_token(document.get("cart_token")) if isinstance(document, dict) else ""
    return token[:_LONGEST_NAME] or None
