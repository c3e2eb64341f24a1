"""Where a request comes from."""

import ipaddress
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address of whoever asks; behind the trusted proxy, what that has appended to the header."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.BEHIND_TLS_PROXY else ""
    return _place_of(forwarded.rpartition(",")[2].strip()[:64] or request.META.get("REMOTE_ADDR", ""))


@lru_cache(maxsize=4096)
def _place_of(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    # Whoever has one address of IPv6 has the 2^64 around it.
    return str(parsed if parsed.version == 4 else ipaddress.ip_network((parsed, 64), strict=False))
