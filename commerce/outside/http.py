"""HTTP to addresses that merchants configure: checked, without redirects, bounded in time and size."""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address

import requests
from urllib3.exceptions import HTTPError, LocationParseError
from urllib3.util import parse_url

from .adapters import CONNECT_TIMEOUT_S, BoundedAdapter
from .addresses import AddressRefused, addresses_of
from .deadline import deadline

# For the whole call.
ANSWER_TIMEOUT_S = 10
EXCERPT_BYTES = 1024

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of a call. Without an answer, `status` is None and `error` says why."""

    status: int | None
    excerpt: str
    error: str
    duration_ms: int

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def check_url(url: str, *, allow_private: bool) -> None:
    """Check that a URL may be called, as far as DNS tells now. Raises `AddressRefused`."""
    host, port = target_of(url, allow_private=allow_private)
    addresses_of(host, port, allow_private=allow_private)


def needs_lookup(url: str) -> bool:
    """Whether checking a URL asks name servers, which may take time. False for one with an IP address."""
    try:
        ip_address((parse_url(url).host or "").strip("[]"))
    except (LocationParseError, ValueError):
        return True
    return False


def target_of(url: str, *, allow_private: bool) -> tuple[str, int]:
    """Host and port of a URL, as `requests` reads it; raises `AddressRefused`."""
    try:
        parts = parse_url(url)
    except LocationParseError as error:
        raise AddressRefused("invalid_url", "This isn't a URL.") from error
    # `requests` rewrites a URL with other characters, and might then call another host than the one that was checked.
    is_plain = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if not is_plain or parts.scheme not in _DEFAULT_PORTS or not parts.host:
        raise AddressRefused("invalid_url", "An absolute http or https URL is required.")
    if parts.auth is not None:
        raise AddressRefused("invalid_url", "A URL must not contain a user name.")
    # Not `or`: port 0 must be refused instead of replaced.
    port = parts.port if parts.port is not None else _DEFAULT_PORTS[parts.scheme]
    # Lower ports belong to other protocols, whose servers might misread an HTTP request as their own.
    if port < 1024 and port not in _DEFAULT_PORTS.values() and not allow_private:
        raise AddressRefused("port_not_allowed", "Ports below 1024 aren't allowed, except 80 and 443.")
    return parts.host.strip("[]"), port


def post(url: str, *, body: bytes, headers: Mapping[str, str], allow_private: bool) -> Answer:
    """Send a body. Every failure is an `Answer` too. Only the beginning of a long answer is read."""
    began = time.monotonic()
    status, excerpt, error = None, "", ""
    try:
        target_of(url, allow_private=allow_private)
        with deadline(ANSWER_TIMEOUT_S):
            status, excerpt = _exchange(url, body, headers, allow_private)
    except AddressRefused as refused:
        error = str(refused)
    except requests.RequestException as failure:
        # A connection that the deadline has shut down fails with whatever it was doing at that moment.
        is_late = time.monotonic() - began >= ANSWER_TIMEOUT_S
        error = (
            f"No answer within {ANSWER_TIMEOUT_S} s." if is_late else f"{type(failure).__name__}: {failure}"
        )
    duration_ms = round((time.monotonic() - began) * 1000)
    return Answer(status=status, excerpt=excerpt, error=error, duration_ms=duration_ms)


def _exchange(url: str, body: bytes, headers: Mapping[str, str], allow_private: bool) -> tuple[int, str]:
    with requests.Session() as session:
        # A proxy from the environment would connect for us, without our check of the address.
        session.trust_env = False
        for scheme in _DEFAULT_PORTS:
            session.mount(f"{scheme}://", BoundedAdapter(allow_private=allow_private))
        with session.post(
            url,
            data=body,
            # The excerpt is stored as it comes, so it must not be compressed.
            headers={"Accept-Encoding": "identity", **headers},
            timeout=(CONNECT_TIMEOUT_S, ANSWER_TIMEOUT_S),
            # `target_of` has checked this URL, not what it redirects to.
            allow_redirects=False,
            # Otherwise the whole body is read before the call returns, however long it is.
            stream=True,
        ) as response:
            content = b""
            # The status is the answer, even if the body breaks off.
            with suppress(HTTPError, OSError):
                content = response.raw.read(EXCERPT_BYTES, decode_content=False)
            # PostgreSQL can't store NUL characters.
            return response.status_code, content.decode(errors="replace").replace("\x00", "\ufffd")
