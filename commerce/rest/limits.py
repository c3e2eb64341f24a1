"""Rate limits: fixed windows of a minute in Redis, by key, by account, by cart or checkout token, and by address.

A storefront key is public. One address gets less than the key's limit, so that a stranger can't use up a shop's
requests. Addresses that send unknown keys, or keys of the other surface, are limited too, as each costs a look-up.
"""

import logging
import time
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import redis
from django.conf import settings

from commerce.errors import RateLimited
from commerce.principal import Principal
from commerce.redis import client

logger = logging.getLogger(__name__)

WINDOW_S = 60
# How long a busy process may count locally.
BATCH_S = 0.1
# With fewer requests left than this, each one is counted in Redis.
EXACT_BELOW = 1_000
# A process keeps a count to itself up to a 5,000th of the limit, as most tokens and addresses are seen only a few
# times.
LOCAL_PART = 5_000
# How long Redis isn't asked after it failed to answer, so that not every request waits for its time-out.
RETRY_S = 1.0


class Bucket(NamedTuple):
    """A counter and how many requests a minute it allows (0 means no limit)."""

    name: str
    limit: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left in the fullest bucket, for the RateLimit headers."""

    limit: int
    remaining: int
    reset_s: int

    @property
    def is_spent(self) -> bool:
        return self.remaining < 0

    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(max(self.remaining, 0)),
            "RateLimit-Reset": str(self.reset_s),
        }


class _Tally:
    """What this process has counted, and what Redis has told it. Shared by its threads, hence the lock."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.window = 0
        # Counts that Redis doesn't know yet.
        self.pending: dict[str, int] = {}
        # The buckets counted since Redis was last asked, each with the count up to which Redis isn't told.
        self.touched: dict[str, int] = {}
        # The totals of all processes, by Redis's last answer.
        self.known: dict[str, int] = {}
        # The versions, each with the time of Redis's last answer.
        self.versions: dict[str, tuple[bytes | None, float]] = {}
        # When Redis may be asked again after it gave no answer.
        self.retry_at = 0.0

    def begin_window(self, window: int) -> None:
        if window != self.window:
            self.window = window
            self.pending.clear()
            self.touched.clear()
            self.known.clear()
            self.versions.clear()

    def add(self, buckets: list[Bucket]) -> None:
        for bucket in buckets:
            self.pending[bucket.name] = self.pending.get(bucket.name, 0) + 1
            self.touched[bucket.name] = bucket.limit // LOCAL_PART

    def take(self) -> dict[str, int]:
        """Take the pending counts that are worth telling Redis."""
        touched, self.touched = self.touched, {}
        told = [name for name, kept in touched.items() if self.pending[name] > kept]
        return {name: self.pending.pop(name) for name in told}

    def remaining(self, bucket: Bucket) -> int:
        return bucket.limit - self.known.get(bucket.name, 0) - self.pending.get(bucket.name, 0)


_tally = _Tally()


def buckets_for(principal: Principal, *, token: str | None, address: str) -> list[Bucket]:
    """The buckets that a request counts in. Secret keys aren't limited by address: merchants' servers have few."""
    account_id = principal.account_id
    buckets = [Bucket(f"key:{principal.key_id}", settings.RATE_LIMIT_PER_KEY)]
    if account_id is not None:
        buckets.append(Bucket(f"account:{account_id}", settings.RATE_LIMIT_PER_ACCOUNT))
    if principal.kind == "storefront":
        buckets.append(Bucket(f"address:{account_id}:{address}", settings.RATE_LIMIT_PER_ADDRESS))
    if token:
        buckets.append(Bucket(f"token:{token}", settings.RATE_LIMIT_PER_TOKEN))
    return [bucket for bucket in buckets if bucket.limit]


def unknown_keys_bucket(address: str) -> Bucket:
    return Bucket(f"unknown-keys:{address}", settings.UNKNOWN_KEYS_PER_ADDRESS)


def count(
    buckets: list[Bucket], *, version_name: str = "keys:none", may_batch: bool = True
) -> tuple[Allowance | None, bytes | None]:
    """Count one request in every bucket, and read a version number in the same round trip.

    With `may_batch`, a busy process asks Redis ten times a second while much is left. Without Redis nothing is
    limited: a shop that sells without limits is better than one that is down.
    """
    now = time.time()
    if now < _tally.retry_at:
        return None, None
    window, reset_s = int(now) // WINDOW_S, WINDOW_S - int(now) % WINDOW_S
    with _tally.lock:
        _tally.begin_window(window)
        _tally.add(buckets)
        _, asked_at = _tally.versions.get(version_name, (None, 0.0))
        # The nearer to a limit, the more it matters what other processes have counted.
        is_tight = min(map(_tally.remaining, buckets), default=EXACT_BELOW) < EXACT_BELOW
        sent = None
        if is_tight or not may_batch or now - asked_at >= BATCH_S:
            sent = _tally.take()
    # Outside of the lock, so that other threads don't wait for Redis.
    if sent is not None and not _send(sent, window, version_name, now=now):
        return None, None
    version, _ = _tally.versions.get(version_name, (None, 0.0))
    # Redis has no version of what has never changed.
    version = version or b"0"
    if not buckets:
        return None, version
    tightest = min(buckets, key=_tally.remaining)
    return Allowance(tightest.limit, _tally.remaining(tightest), reset_s), version


def refuse_if_spent(bucket: Bucket) -> None:
    """Raise `RateLimited` if this process already knows that the bucket is spent. Doesn't ask Redis."""
    now = int(time.time())
    with _tally.lock:
        is_spent = _tally.window == now // WINDOW_S and _tally.remaining(bucket) <= 0
    if bucket.limit and is_spent:
        raise RateLimited(WINDOW_S - now % WINDOW_S)


def _send(sent: dict[str, int], window: int, version_name: str, *, now: float) -> bool:
    """Add this process's counts to the shared ones, in one round trip. Returns whether Redis answered."""
    pipeline = client().pipeline(transaction=False)
    for name, used in sent.items():
        pipeline.incrby(f"limit:{name}:{window}", used)
        # Longer than the window, as other processes' clocks may be behind.
        pipeline.expire(f"limit:{name}:{window}", WINDOW_S * 2, nx=True)
    pipeline.get(version_name)
    try:
        *counts, version = pipeline.execute()
    except redis.RedisError as error:
        logger.warning("Rate limits are off: Redis does not answer (%s)", error)
        _tally.retry_at = now + RETRY_S
        return False
    with _tally.lock:
        _tally.known.update(zip(sent, counts[::2], strict=True))
        _tally.versions[version_name] = (version, now)
    return True


def forget_counts() -> None:
    """Reset the counts of this process."""
    _tally.begin_window(0)
    _tally.retry_at = 0.0
