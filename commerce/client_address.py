"""The client's address of a request."""

import ipaddress
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.BEHIND_TLS_PROXY else ""
    return address_of(forwarded, peer=request.META.get("REMOTE_ADDR", ""))


def address_of(forwarded: str, *, peer: str) -> str:
    """The client's address: the one that the trusted proxy has appended to the header, else that of the peer.

    An IPv6 address is widened to its /64 network.
    """
    # The client itself may have sent what is before the last comma. Cut, since text that isn't an address is kept.
    return _widen_ipv6(forwarded.rpartition(",")[2].strip()[:64] or peer)


# On every request, up to twice: 5 µs to parse an IPv4 address, 43 µs for IPv6, and 0.1 µs from here.
@lru_cache(maxsize=4096)
def _widen_ipv6(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    # Whoever has one IPv6 address usually has its whole /64, and would have as many limits as addresses.
    return str(parsed if parsed.version == 4 else ipaddress.ip_network((parsed, 64), strict=False))
