"""Metrics of all processes of this installation. Each process writes its own files, which a scrape adds up."""

import logging
import os
import socket
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from threading import Event, Timer
from typing import Any

from django.conf import settings
from prometheus_client import CollectorRegistry, Counter, Histogram, values
from prometheus_client.multiprocess import MultiProcessCollector

logger = logging.getLogger(__name__)

_HOST = socket.gethostname()
# Clients choose the method and the path, and Prometheus keeps a series for each value of a label.
_METHODS = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}
_SURFACES = {"storefront", "admin", "backoffice", "webhooks"}
# How long a count may stay in its process before it is written to its file.
_DELAY_S = 1.0
_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


# The library reads this variable whenever it opens a file.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)
# Containers that share the directory may have equal process ids.
_SharedValue: Any = values.MultiProcessValue(lambda: f"{_HOST}-{os.getpid()}")


def _make_value(*arguments: object, **options: object) -> object:
    """A number in this process's file. If it can't be written, the count is lost and requests go on."""
    try:
        settings.METRICS_DIR.mkdir(parents=True, exist_ok=True)
        return _SharedValue(*arguments, **options)
    except OSError as error:
        logger.warning("Metrics are not kept: %s", error)
        return values.MutexValue(*arguments, **options)


# The library has no argument for this: its metrics take the class from this variable.
values.ValueClass = _make_value

# Counts go to files and are read from there. The library's own registry isn't used.
_make_counter = partial(Counter, registry=None)

_REQUESTS = _make_counter(
    "commerce_requests", "Requests answered", labelnames=("surface", "route", "method", "status")
)
_DURATIONS = Histogram(
    "commerce_request_duration_seconds",
    "Time from a request to its answer",
    labelnames=("surface", "route", "method"),
    buckets=_BUCKETS_S,
    registry=None,
)
_EVENTS = _make_counter("commerce_events", "Events published, of all accounts", labelnames=("type",))
_LOOP_FAILURES = _make_counter(
    "commerce_loop_failures", "Rows and accounts that a loop went on without", labelnames=("loop",)
)
_RUNS = _make_counter("commerce_outbox_runs", "Dispatches run by workers", labelnames=("task", "outcome"))

# Requests not yet written to the file. Writing each at once would cost several times as much.
_answered: deque[tuple[str, str, int, float]] = deque()
_is_scheduled = Event()


def count_request(*, route: str, method: str, status: int, seconds: float) -> None:
    """Count an answered request under its route's template."""
    _answered.append((route, method, status, seconds))
    if not _is_scheduled.is_set():
        _is_scheduled.set()
        timer = Timer(_DELAY_S, _write_requests)
        timer.daemon = True
        timer.start()


def _write_requests() -> None:
    # Cleared first, so that a request counted from here on starts a new timer.
    _is_scheduled.clear()
    # The end is found by the error: a scrape and a timer may empty the queue at the same time.
    with suppress(IndexError):
        while True:
            route, method, status, seconds = _answered.popleft()
            requests, durations = _find_series(route, method if method in _METHODS else "other", status)
            requests.inc()
            durations.observe(seconds)


def count_events(numbers: Mapping[str, int]) -> None:
    """Count published events by type."""
    for event_type, number in numbers.items():
        _EVENTS.labels(event_type).inc(number)


def count_run(*, task_name: str, outcome: str) -> None:
    """Count one run of a dispatch: succeeded, skipped, retried, dead, postponed or lost."""
    _RUNS.labels(task_name, outcome).inc()


def count_loop_failure(loop: str) -> None:
    """Count a row or account on which a loop failed."""
    _LOOP_FAILURES.labels(loop).inc()


def shared_registry() -> CollectorRegistry:
    """A registry of the sums over all processes' files. Those of other processes may be a second old."""
    _write_requests()
    registry = CollectorRegistry()
    if settings.METRICS_DIR.is_dir():
        MultiProcessCollector(registry, path=str(settings.METRICS_DIR))
    return registry


@cache
def _find_series(route: str, method: str, status: int) -> tuple[Counter, Histogram]:
    first = route.partition("/")[0]
    labels = (first if first in _SURFACES else "other", route, method)
    return _REQUESTS.labels(*labels, str(status)), _DURATIONS.labels(*labels)
