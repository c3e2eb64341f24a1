"""One Redis connection pool per process. Its time-outs are short, as requests can do without Redis."""

from functools import cache

import redis
from django.conf import settings


@cache
def client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=0.5,
        socket_connect_timeout=0.2,
        # A retry would only prolong the wait: callers go on without an answer.
        retry=None,
        max_connections=64,
    )
