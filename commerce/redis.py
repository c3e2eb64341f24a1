"""One Redis connection pool per process, with time-outs short enough to do without it."""

from functools import cache

import redis
from django.conf import settings


@cache
def client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=0.5,
        socket_connect_timeout=0.2,
        retry=None,
        max_connections=64,
    )
