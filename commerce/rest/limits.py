"""Rate limits: fixed windows of a minute in Redis, per key and per cart or checkout token."""

import logging
import time
from collections import Counter
from dataclasses import dataclass
from threading import Lock

import redis
from django.conf import settings

from commerce.redis import client

logger = logging.getLogger(__name__)

WINDOW_S = 60
# How long a busy process may count for itself.
BATCH_S = 0.1
# Below so many requests left, every single one is counted in Redis.
EXACT_BELOW = 1_000
# How long Redis is left alone after it did not answer: its time-outs would be every request's.
RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class Bucket:
    """One counter: what is counted, and how many requests a minute it allows (0 is no limit)."""

    name: str
    limit: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left in the tightest bucket, for the RateLimit headers."""

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
    """What this process has counted and not yet told Redis, and what Redis last told it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.window = 0
        self.pending: Counter[str] = Counter()
        self.known: dict[str, int] = {}
        self.versions: dict[str, tuple[bytes | None, float]] = {}
        self.retry_at = 0.0

    def turn_to(self, window: int) -> None:
        if window != self.window:
            self.window = window
            self.pending.clear()
            self.known.clear()
            self.versions.clear()

    def remaining(self, bucket: Bucket) -> int:
        return bucket.limit - self.known.get(bucket.name, 0) - self.pending[bucket.name]


_tally = _Tally()


def buckets_for(*, key_id: int, token: str | None) -> list[Bucket]:
    buckets = [Bucket(f"key:{key_id}", settings.RATE_LIMIT_PER_KEY)]
    if token:
        buckets.append(Bucket(f"token:{token}", settings.RATE_LIMIT_PER_TOKEN))
    return [bucket for bucket in buckets if bucket.limit]


def count(
    buckets: list[Bucket], *, version_name: str, may_batch: bool
) -> tuple[Allowance | None, bytes | None]:
    """Count one request in every bucket, and read a version number on the way.

    With `may_batch` a busy process asks Redis ten times a second while plenty is left. Without Redis
    nothing is limited: a shop that sells without limits is better than one that is down.
    """
    now = time.time()
    if now < _tally.retry_at:
        return None, None
    window, reset_s = int(now) // WINDOW_S, WINDOW_S - int(now) % WINDOW_S
    with _tally.lock:
        _tally.turn_to(window)
        _tally.pending.update(bucket.name for bucket in buckets)
        _, asked_at = _tally.versions.get(version_name, (None, 0.0))
        is_tight = any(_tally.remaining(bucket) < EXACT_BELOW for bucket in buckets)
        sent = None
        if is_tight or not may_batch or now - asked_at >= BATCH_S:
            sent, _tally.pending = _tally.pending, Counter()
    if sent is not None and not _exchange(sent, window, version_name, now=now):
        return None, None
    allowances = [
        Allowance(limit=bucket.limit, remaining=_tally.remaining(bucket), reset_s=reset_s)
        for bucket in buckets
    ]
    version, _ = _tally.versions.get(version_name, (None, 0.0))
    return min(allowances, key=lambda allowance: allowance.remaining, default=None), version or b"0"


def _exchange(sent: Counter[str], window: int, version_name: str, *, now: float) -> bool:
    """Add this process's counts to everybody's, in one round trip; whether Redis answered."""
    pipeline = client().pipeline(transaction=False)
    for name, used in sent.items():
        pipeline.incrby(f"limit:{name}:{window}", used)
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
    """Start over, as a new process does."""
    _tally.turn_to(0)
    _tally.retry_at = 0.0
