"""Rate limits: fixed windows of a minute in Redis, per key and per cart or checkout token."""

import logging
import time
from dataclasses import dataclass

import redis
from django.conf import settings

from commerce.redis import client

logger = logging.getLogger(__name__)

WINDOW_S = 60


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


def buckets_for(*, key_id: int, token: str | None) -> list[Bucket]:
    buckets = [Bucket(f"key:{key_id}", settings.RATE_LIMIT_PER_KEY)]
    if token:
        buckets.append(Bucket(f"token:{token}", settings.RATE_LIMIT_PER_TOKEN))
    return [bucket for bucket in buckets if bucket.limit]


def count(buckets: list[Bucket], *, version_name: str) -> tuple[Allowance | None, bytes | None]:
    """Count one request in every bucket; also reads a version number, to save a round trip.

    Without Redis nothing is limited: a shop that sells unlimited is better than one that is down.
    """
    now = int(time.time())
    window, reset_s = now // WINDOW_S, WINDOW_S - now % WINDOW_S
    pipeline = client().pipeline(transaction=False)
    for bucket in buckets:
        name = f"limit:{bucket.name}:{window}"
        pipeline.incr(name)
        pipeline.expire(name, WINDOW_S * 2, nx=True)
    pipeline.get(version_name)
    try:
        *counts, version = pipeline.execute()
    except redis.RedisError as error:
        logger.warning("Rate limits are off: Redis does not answer (%s)", error)
        return None, None
    allowances = [
        Allowance(limit=bucket.limit, remaining=bucket.limit - used, reset_s=reset_s)
        for bucket, used in zip(buckets, counts[::2], strict=True)
    ]
    return min(allowances, key=lambda allowance: allowance.remaining, default=None), version
