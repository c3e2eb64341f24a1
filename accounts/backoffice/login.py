"""Logging in to the back office, where failed attempts are counted in Redis.

An attempt counts before its password is looked at, so that many at once don't slip through; a good one is taken
back. Who names another's user is shut out on the way there, and the user is not: the limit of the name alone takes a
dozen addresses to reach, and lasts a minute.
"""

import hashlib
import ipaddress
import logging
from dataclasses import dataclass
from typing import Any

import redis
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from unfold.forms import AuthenticationForm

from commerce.redis import client

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limit:
    """So many failed attempts in a window of so many seconds, which begins with the first."""

    attempts: int
    window_s: int


PER_NAME_AND_ADDRESS = Limit(5, 15 * 60)
PER_ADDRESS = Limit(50, 15 * 60)
PER_NAME = Limit(60, 60)
_LIMITS = (PER_NAME_AND_ADDRESS, PER_ADDRESS, PER_NAME)

# Counts nothing, and returns the seconds to wait, where any limit is reached.
_BEGIN = """
local wait = 0
for i, key in ipairs(KEYS) do
    if tonumber(redis.call('GET', key) or '0') >= tonumber(ARGV[2 * i - 1]) then
        wait = math.max(wait, redis.call('TTL', key), 1)
    end
end
if wait == 0 then
    for i, key in ipairs(KEYS) do
        if redis.call('INCR', key) == 1 then redis.call('EXPIRE', key, ARGV[2 * i]) end
    end
end
return wait
"""
# The first key is that of name and address, which a success clears.
_TAKE_BACK = """
redis.call('DEL', KEYS[1])
for i = 2, #KEYS do
    if tonumber(redis.call('GET', KEYS[i]) or '0') > 0 then redis.call('DECR', KEYS[i]) end
end
"""


class LoginForm(AuthenticationForm):
    """The log-in form; `wait_s` is for how many seconds no attempt is taken."""

    wait_s = 0

    def clean(self) -> dict[str, Any]:
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if not name or not password:
            return super().clean()
        keys = _keys(name, address_of(self.request))
        self.wait_s = begin_attempt(keys)
        if self.wait_s:
            raise ValidationError(
                f"Too many failed attempts to log in. Try again in {_in_words(self.wait_s)}.",
                code="too_many_attempts",
            )
        cleaned = super().clean()
        take_attempt_back(keys)
        return cleaned


def begin_attempt(keys: list[str]) -> int:
    """Count an attempt; the seconds to wait where it may not be made. Without Redis there is no limit."""
    arguments = [part for limit in _LIMITS for part in (limit.attempts, limit.window_s)]
    return _run(_BEGIN, keys, *arguments) or 0


def take_attempt_back(keys: list[str]) -> None:
    """The attempt was a good one: forget the failures of this name from this address."""
    _run(_TAKE_BACK, keys)


def address_of(request: HttpRequest) -> str:
    """Where a request comes from: behind the trusted proxy, what that has appended to the header."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.BEHIND_TLS_PROXY else ""
    address = forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR", "")
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    # Whoever has one address of IPv6 has the 2^64 around it.
    return str(parsed if parsed.version == 4 else ipaddress.ip_network((parsed, 64), strict=False))


def _keys(name: str, address: str) -> list[str]:
    """The names of the counters, in the order of the limits."""
    digest = hashlib.sha256(name.casefold().encode()).hexdigest()
    place = hashlib.sha256(address.encode(errors="replace")).hexdigest()
    return [f"login:{digest}:{place}", f"login:address:{place}", f"login:name:{digest}"]


def _run(script: str, keys: list[str], *arguments: int) -> Any:
    try:
        return client().eval(script, len(keys), *keys, *arguments)
    except redis.RedisError as error:
        logger.warning("Attempts to log in are not limited: Redis does not answer (%s)", error)
        return None


def _in_words(seconds: int) -> str:
    minutes = -(-seconds // 60)
    return "a minute" if minutes == 1 else f"{minutes} minutes"
