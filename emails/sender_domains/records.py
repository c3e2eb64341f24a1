"""Looks up TXT records at the machine's name servers, or at those in `DNS_SERVERS`."""

import dns.exception
import dns.name
import dns.nameserver
import dns.resolver
from django.conf import settings

from commerce.outside.deadline import time_left

LOOKUP_TIMEOUT_S = 5
_DNS_PORT = 53
# Invalid names, which have no record.
_NO_NAMES = (dns.name.LabelTooLong, dns.name.NameTooLong, dns.name.EmptyLabel, dns.name.BadEscape)


class DnsUnavailable(Exception):
    """The name servers didn't answer, so the record may exist or not."""


def look_up_txt(name: str) -> list[str]:
    """The texts at a name; none if it doesn't exist. No transaction may be open. Raises `DnsUnavailable`."""
    try:
        resolver = dns.resolver.Resolver(configure=not settings.DNS_SERVERS)
        if settings.DNS_SERVERS:
            resolver.nameservers = [_parse_server(address) for address in settings.DNS_SERVERS]
        # Not searched for in the machine's own domains: `hats` must not find `hats.internal.example`.
        answer = resolver.resolve(name, "TXT", lifetime=time_left(LOOKUP_TIMEOUT_S), search=False)
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer, *_NO_NAMES):
        return []
    except (dns.exception.DNSException, OSError) as error:
        raise DnsUnavailable(str(error)) from error
    # RFC 1035, section 3.3.14: a text longer than 255 bytes comes in several strings.
    return [b"".join(record.strings).decode(errors="replace") for record in answer]


def _parse_server(address: str) -> dns.nameserver.Nameserver:
    """Parse `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`."""
    host, _, port = address.rpartition(":")
    # A bare IPv6 address has colons too, but none of them is before a port.
    has_port = bool(host) and (host.endswith("]") or ":" not in host)
    return dns.nameserver.Do53Nameserver(
        (host if has_port else address).strip("[]"), int(port) if has_port else _DNS_PORT
    )
