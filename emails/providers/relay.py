"""Recognises the installation's own mail server by its addresses, under any name.

That server may send as anyone for this machine. An account that sets it as its own server would bypass the check of
sender domains.
"""

import socket
import time
from ipaddress import IPv4Address, IPv6Address, ip_address
from threading import Lock

from commerce.outside.addresses import LOOKUP_TIMEOUT_S, AddressRefused
from commerce.outside.deadline import time_left
from commerce.outside.lookups import look_up

Address = IPv4Address | IPv6Address

LOOK_UP_EVERY_S = 60
# One answer may not list all the addresses of a name.
REMEMBERED_S = 3600


class _Relay:
    def __init__(self) -> None:
        self.looked_up_at = -float("inf")
        # Each address with the time it was last seen.
        self.addresses: dict[Address, float] = {}


_relays: dict[str, _Relay] = {}
_lock = Lock()


def refuse_relay(connection: socket.socket, host: str) -> None:
    """Raises `AddressRefused` if the connection leads to the mail server `host`, or if its addresses are unknown."""
    peer, here = _address(connection.getpeername()[0]), _address(connection.getsockname()[0])
    relay = _addresses_of(host)
    is_local = any(address.is_loopback for address in relay) and (peer.is_loopback or peer == here)
    if peer in relay or is_local:
        raise AddressRefused(
            "installation_server",
            "This is the installation's mail server. Leave commerce.email.smtp_host empty to send through it.",
        )


def _addresses_of(host: str) -> set[Address]:
    now = time.monotonic()
    with _lock:
        relay = _relays.setdefault(host, _Relay())
        is_due = now - relay.looked_up_at >= LOOK_UP_EVERY_S
    if is_due:
        _look_up(host, relay, now=now)
    with _lock:
        return {address for address, seen in relay.addresses.items() if now - seen < REMEMBERED_S}


def _look_up(host: str, relay: _Relay, *, now: float) -> None:
    """Look the relay up. If that fails, the addresses found before are used until the next look-up is due."""
    try:
        found = look_up(host, 25, timeout_s=time_left(LOOKUP_TIMEOUT_S))
    except (OSError, ValueError) as error:
        if not relay.addresses:
            raise AddressRefused(
                "host_not_found", "The installation's mail server can't be found."
            ) from error
        with _lock:
            relay.looked_up_at = now
        return
    with _lock:
        relay.addresses |= {_address(str(address[0])): now for *_, address in found}
        relay.looked_up_at = now


def _address(text: str) -> Address:
    address = ip_address(text.partition("%")[0])
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def forget_relays() -> None:
    """As in a new process."""
    with _lock:
        _relays.clear()
