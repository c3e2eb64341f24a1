"""Liveness and readiness of this process."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

import redis
from django.db import Error, connections
from django.http import HttpRequest, HttpResponse, JsonResponse

from commerce.redis import client
from commerce.rest.problems import allow_methods
from commerce.tenancy.roles import bypass_reasons
from config.periodic import find_late_tasks
from config.probes import Probe

T = TypeVar("T")

# Load balancers and `make run` wait for two seconds. What doesn't answer before that counts as down.
PATIENCE_S = 1.5


@allow_methods("GET", "HEAD")
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@allow_methods("GET", "HEAD")
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether the process may serve: the database answers, and its role can't bypass row-level security."""
    asked = _serving_role.ask(), _redis.ask(), _late_tasks.ask()
    # All at once, so that two servers that are down don't take twice the time.
    wait(asked, timeout=PATIENCE_S)
    failures = ["The database does not answer."]
    if is_up(asked[0]):
        failures = [
            f"The serving database role could bypass row-level security: {reason}."
            for reason in asked[0].result()
        ]
    document = {
        "status": "unavailable" if failures else "ok",
        "failures": failures,
        # Redis carries rate limits and the task queue: without it shops still sell.
        "redis": "ok" if is_up(asked[1]) else "unavailable",
        # Late tasks aren't this process's fault either. Null if Redis doesn't answer.
        "late_tasks": asked[2].result() if is_up(asked[2]) else None,
    }
    return JsonResponse(document, status=503 if failures else 200)


def make_redis_probe() -> Probe[Any]:
    """Whether Redis answers."""
    return Probe(lambda: client().ping())


def make_late_tasks_probe() -> Probe[list[str]]:
    """Which periodic tasks are late."""
    return Probe(find_late_tasks)


def make_database_probe(question: Callable[[], T]) -> Probe[T]:
    """Ask the database, on a connection that is returned afterwards."""

    def ask() -> T:
        try:
            return question()
        finally:
            # Each run has a new thread, whose connection Django wouldn't return to the pool at the end of a request.
            connections.close_all()

    return Probe(ask)


def is_up(asked: "Future[Any]") -> bool:
    """Whether a server that may be down has answered in time."""
    try:
        asked.result(timeout=0)
    except (Error, redis.RedisError, OSError):  # a TimeoutError is an OSError
        return False
    return True


_serving_role = make_database_probe(lambda: bypass_reasons(connections["default"]))
_redis = make_redis_probe()
_late_tasks = make_late_tasks_probe()
