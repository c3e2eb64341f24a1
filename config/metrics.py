"""`/metrics` in Prometheus' text format, for clients on this machine and for holders of the token."""

import hmac
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from commerce.metrics import shared_registry
from commerce.outbox.queries import Backlog, count_backlog
from commerce.rest.problems import allow_methods
from config.health import PATIENCE_S, is_up, make_database_probe
from config.periodic import PeriodicTask, load_periodic_tasks
from config.probes import Probe
from config.views import not_found

# What proxies add. One on this machine passes on requests of strangers over the loopback interface.
_FORWARDED = ("HTTP_X_FORWARDED", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")

_backlog = make_database_probe(count_backlog)
_redis = Probe(load_periodic_tasks)


@allow_methods("GET", "HEAD")
def metrics(request: HttpRequest) -> HttpResponse:
    """The counts of all processes, and the current state. Everyone else gets 404, as if there were no such page."""
    if not (_has_token(request) or _is_local(request)):
        return not_found(request)
    # A new registry for each scrape: the counts of the other processes are read from their files.
    registry = shared_registry()
    registry.register(_State())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _has_token(request: HttpRequest) -> bool:
    # As bytes, because compare_digest takes only ASCII text. It takes equally long for every wrong token.
    given = request.headers.get("Authorization", "").encode()
    wanted = f"Bearer {settings.METRICS_TOKEN}".encode()
    return bool(settings.METRICS_TOKEN) and hmac.compare_digest(given, wanted)


def _is_local(request: HttpRequest) -> bool:
    """Whether it comes from the loopback interface, and wasn't forwarded by a proxy on this machine."""
    if any(name.startswith(_FORWARDED) for name in request.META):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


class _State(Collector):
    """Gauges that are queried while the scrape waits. Unavailable ones are left out, and `commerce_up` is 0."""

    def collect(self) -> Iterator[Metric]:
        asked: dict[str, Future[Any]] = {"database": _backlog.ask(), "redis": _redis.ask()}
        wait(asked.values(), timeout=PATIENCE_S)
        up = GaugeMetricFamily("commerce_up", "Whether a server answers", labels=["server"])
        for name, answer in asked.items():
            up.add_metric([name], is_up(answer))
        yield up
        if is_up(asked["database"]):
            yield from _describe_outbox(asked["database"].result(), now=timezone.now())
        if is_up(asked["redis"]):
            yield from _describe_tasks(asked["redis"].result())


def _describe_outbox(backlog: Backlog, *, now: datetime) -> Iterator[Metric]:
    waiting = GaugeMetricFamily(
        "commerce_outbox_dispatches", "Dispatches of all accounts, 100,000 at most", labels=["status"]
    )
    for status in ("pending", "processing", "dead"):
        waiting.add_metric([status], getattr(backlog, status))
    yield waiting
    overdue = now - backlog.oldest_due_at if backlog.oldest_due_at else timedelta()
    yield GaugeMetricFamily(
        "commerce_outbox_oldest_due_seconds",
        "How long the oldest due dispatch has been waiting",
        value=max(overdue.total_seconds(), 0.0),
    )


def _describe_tasks(tasks: list[PeriodicTask]) -> Iterator[Metric]:
    succeeded = GaugeMetricFamily(
        "commerce_periodic_task_success_timestamp_seconds",
        "When a periodic task last succeeded, in Unix time",
        labels=["task"],
    )
    late = GaugeMetricFamily(
        "commerce_periodic_task_late",
        "Whether a periodic task has not succeeded for three of its intervals and a minute",
        labels=["task"],
    )
    for task in tasks:
        succeeded.add_metric([task.name], task.succeeded_at)
        late.add_metric([task.name], task.is_late(now=time.time()))
    yield succeeded
    yield late
