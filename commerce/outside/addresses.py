"""Which addresses may be reached, and connections to the very address that was checked.

A name is resolved once for each connection: asked twice, a hostile name server would show a public address to the
check and another one to the call (DNS rebinding).
"""

import socket
import time
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from .deadline import cover, time_left
from .lookups import look_up

# RFC 4291, 2.4: of IPv6 only this is given out. It leaves out what stands for an IPv4 address: mapped, compatible, NAT64.
_GLOBAL_UNICAST = ip_network("2000::/3")
_TUNNELS = (ip_network("2001::/32"), ip_network("2002::/16"))
# RFC 6890, 2.2.2, where a cloud keeps its metadata, and the address at which another one answers its machines.
_KEPT_BY_CLOUDS = (ip_network("192.0.0.0/24"), ip_network("168.63.129.16/32"))
_MAX_ADDRESSES = 3
LOOKUP_TIMEOUT_S = 3


class AddressRefused(Exception):
    """This must not be reached, or can't be; `code` is the code of the field error."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def addresses_of(
    host: str, port: int, *, allow_private: bool = False, timeout_s: float = LOOKUP_TIMEOUT_S
) -> list[tuple[Any, ...]]:
    """What a name stands for now, as `socket.getaddrinfo` gives it.

    Raises `AddressRefused` if any of it is not public: a name with both is none to trust.
    """
    try:
        found = look_up(host, port, timeout_s=time_left(timeout_s))
    except (OSError, ValueError) as error:
        raise AddressRefused("host_not_found", "The host can't be found.") from error
    if not allow_private and not all(is_public(str(address[0])) for *_, address in found):
        raise AddressRefused("address_not_public", "The host is not at a public address.")
    return found[:_MAX_ADDRESSES]


def connect(host: str, port: int, *, timeout_s: float, allow_private: bool = False) -> socket.socket:
    """A connection to the first address that answers, within this time for the look-up and all of them.

    It is shut down at the end of the current deadline. Raises `AddressRefused`, `OSError`.
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
    """Whether an IP address is one of the internet's, where nothing of ours, or of the machine itself, answers."""
    address = ip_address(text)
    return _is_public_v6(address) if isinstance(address, IPv6Address) else _is_public_v4(address)


def _is_public_v6(address: IPv6Address) -> bool:
    is_tunnel = any(address in network for network in _TUNNELS)
    return address in _GLOBAL_UNICAST and address.is_global and not is_tunnel


def _is_public_v4(address: IPv4Address) -> bool:
    is_kept = any(address in network for network in _KEPT_BY_CLOUDS)
    return address.is_global and not address.is_multicast and not is_kept
