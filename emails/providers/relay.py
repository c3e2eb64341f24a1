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
    # The connection's own address is what counts: a name may resolve to another one each time.
    peer = _parse_address(connection.getpeername()[0])
    here = _parse_address(connection.getsockname()[0])
    relay = _find_addresses(host)
    # A mail server on this machine may listen on all of the machine's addresses.
    is_local = any(address.is_loopback for address in relay) and (peer.is_loopback or peer == here)
    if peer in relay or is_local:
        raise AddressRefused(
            "installation_server",
            "This is the installation's mail server. Leave commerce.email.smtp_host empty to send through it.",
        )


def _find_addresses(host: str) -> set[Address]:
    """The addresses that the mail server was seen with lately. Raises `AddressRefused` if there never were any."""
    now = time.monotonic()
    with _lock:
        relay = _relays.setdefault(host, _Relay())
        is_due = now - relay.looked_up_at >= LOOK_UP_EVERY_S
    if is_due:
        # Without the lock, as name servers may take seconds. Two threads may look up at once, which does no harm.
        try:
            found = look_up(host, 25, timeout_s=time_left(LOOKUP_TIMEOUT_S))
        except (OSError, ValueError) as error:
            if not relay.addresses:
                raise AddressRefused(
                    "host_not_found", "The installation's mail server can't be found."
                ) from error
            # The addresses found before are used until the next look-up is due.
            found = []
        with _lock:
            relay.addresses |= {_parse_address(str(address[0])): now for *_, address in found}
            relay.looked_up_at = now
    with _lock:
        return {address for address, seen in relay.addresses.items() if now - seen < REMEMBERED_S}


def _parse_address(text: str) -> Address:
    # Without the zone of a link-local address. A socket for both versions shows IPv4 as mapped into IPv6.
    address = ip_address(text.partition("%")[0])
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def forget_relays() -> None:
    """Forget all of this, so that tests don't affect each other."""
    with _lock:
        _relays.clear()
