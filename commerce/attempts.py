"""Counts in Redis what is allowed only a few times.

These are attempts at secrets that could be guessed (passwords, codes of discounts and gift cards), and requests that
store much. Each is counted before it runs, so that parallel ones don't slip through. Correct attempts and refused
requests are taken back.
"""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import redis

from commerce.errors import RateLimited
from commerce.redis import client

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limit:
    """How many failed attempts a window of seconds allows. It begins with the first one. 0 means no limit."""

    attempts: int
    window_s: int


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter by its name in Redis. A correct attempt takes back only itself, or all failed ones as well."""

    name: str
    limit: Limit
    is_cleared_by_success: bool = False


# If any limit is reached, counts nothing and returns the seconds to wait: at least one, as 0 means that it may go on.
# Redis runs a script without anything in between, so parallel attempts can't all read the same count.
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
# A counter that has expired meanwhile is left deleted. Decremented, it would be below zero, and never expire.
_TAKE_BACK = """
for i, key in ipairs(KEYS) do
    if ARGV[i] == '1' or tonumber(redis.call('GET', key) or '0') <= 1 then redis.call('DEL', key)
    else redis.call('DECR', key) end
end
"""


def begin_attempt(counters: list[Counter]) -> int:
    """Count an attempt. Returns the seconds to wait if it isn't allowed. Without Redis there is no limit."""
    counted = [counter for counter in counters if counter.limit.attempts]
    arguments = [part for counter in counted for part in (counter.limit.attempts, counter.limit.window_s)]
    return _run_script(_BEGIN, counted, *arguments) or 0


def undo_attempt(counters: list[Counter]) -> None:
    """Undo `begin_attempt`, because the attempt was correct or stored nothing."""
    counted = [counter for counter in counters if counter.limit.attempts]
    _run_script(_TAKE_BACK, counted, *(int(counter.is_cleared_by_success) for counter in counted))


@contextmanager
def limit_attempts(counter: Counter) -> Iterator[None]:
    """Count what the block does, unless it raises. Raises `RateLimited` if the counter allows no more."""
    wait_s = begin_attempt([counter])
    if wait_s:
        raise RateLimited(wait_s)
    try:
        yield
    except BaseException:
        # Whatever the error was, the request is rolled back, so it has stored nothing.
        undo_attempt([counter])
        raise


def digest(text: str) -> str:
    """A part of a counter's name, of fixed length, for text that a client has sent."""
    # JSON may contain lone surrogates, which have no encoding.
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _run_script(script: str, counters: list[Counter], *arguments: int) -> int | None:
    if not counters:
        return None
    try:
        return client().eval(script, len(counters), *(counter.name for counter in counters), *arguments)
    except redis.RedisError as error:
        logger.warning("Attempts are not limited: Redis does not answer (%s)", error)
        return None
