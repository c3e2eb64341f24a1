"""Decides which addresses may be reached, and connects to the very address that was checked.

A name is resolved once for each connection. Asked twice, a hostile name server could answer the check with a public
address and the call with a private one (DNS rebinding).
"""

import socket
import time
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from .deadline import cover, time_left
from .lookups import look_up

# RFC 4291, 2.4: global unicast. Leaves out the forms that stand for IPv4 addresses: mapped, compatible, NAT64.
_GLOBAL_UNICAST = ip_network("2000::/3")
# RFC 4380 (Teredo) and RFC 3056 (6to4): these addresses contain an IPv4 address, which may be a private one.
_TUNNELS = (ip_network("2001::/32"), ip_network("2002::/16"))
# Link-local (RFC 6890, 2.2.2), where clouds serve metadata, and the address of Azure's platform services.
_KEPT_BY_CLOUDS = (ip_network("192.0.0.0/24"), ip_network("168.63.129.16/32"))
# A name may have any number of addresses, and each that doesn't answer takes time.
_MAX_ADDRESSES = 3
LOOKUP_TIMEOUT_S = 3


class AddressRefused(Exception):
    """The address can't be reached, or must not be. `code` is that of the field error."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def addresses_of(
    host: str, port: int, *, allow_private: bool = False, timeout_s: float = LOOKUP_TIMEOUT_S
) -> list[tuple[Any, ...]]:
    """Resolve a name, like `socket.getaddrinfo`.

    Raises `AddressRefused` if the name can't be found, or if any of its addresses isn't public.
    """
    try:
        found = look_up(host, port, timeout_s=time_left(timeout_s))
    except (OSError, ValueError) as error:
        raise AddressRefused("host_not_found", "The host can't be found.") from error
    if not allow_private and not all(is_public(str(address[0])) for *_, address in found):
        raise AddressRefused("address_not_public", "The host is not at a public address.")
    return found[:_MAX_ADDRESSES]


def connect(host: str, port: int, *, timeout_s: float, allow_private: bool = False) -> socket.socket:
    """Connect to the first address that answers. The time-out covers the look-up and all attempts.

    The connection is shut down at the end of the current deadline. Raises `AddressRefused`, `OSError`.
    """
    timeout_s = time_left(timeout_s)
    deadline = time.monotonic() + timeout_s
    addresses = addresses_of(
        host, port, allow_private=allow_private, timeout_s=min(timeout_s, LOOKUP_TIMEOUT_S)
    )
    failure: OSError = TimeoutError(f"No connection within {timeout_s:g} s.")
    for family, kind, protocol, _, address in addresses:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            break
        connection = socket.socket(family, kind, protocol)
        # All attempts share the time, so a second address doesn't double it.
        connection.settimeout(left_s)
        try:
            connection.connect(address)
            cover(connection)
        except OSError as error:
            connection.close()
            failure = error
        else:
            return connection
    raise failure


def is_public(text: str) -> bool:
    """Whether an IP address is on the internet: neither in a private network nor of this machine."""
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        is_tunnel = any(address in network for network in _TUNNELS)
        return address in _GLOBAL_UNICAST and address.is_global and not is_tunnel
    # Python counts multicast addresses as global.
    is_kept = any(address in network for network in _KEPT_BY_CLOUDS)
    return address.is_global and not address.is_multicast and not is_kept
