"""Measures whole journeys: of one account and of several, with emails and without."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from time import perf_counter

from .load import Client
from .measuring import Bench, Row
from .shopping import Shopping, journey
from .worker import Worker

SENT = "a whole journey, its email sent"
SENT_BY_ALL = "the same, over eight accounts"
PAUSED = "a whole journey, the worker paused"
PAUSED_BY_ALL = "the same, paused, over eight accounts"
JOURNEYS = (SENT, SENT_BY_ALL, PAUSED, PAUSED_BY_ALL)

ACCOUNTS = 8
# Journeys still running at the end don't count. With several turns, few are lost.
_TURNS = 3


def measure_journeys(bench: Bench, shops: Sequence[Shopping], worker: Worker) -> Iterator[Row]:
    """Repeat journeys with each client. Each row counts orders, not requests."""
    # The emails of the orders before would take time from these.
    worker.wait_until_idle()
    yield _measure(bench, SENT, shops[:1], finish=worker.wait_until_idle)
    yield _measure(bench, SENT_BY_ALL, shops, finish=worker.wait_until_idle)
    with worker.paused():
        yield _measure(bench, PAUSED, shops[:1])
        yield _measure(bench, PAUSED_BY_ALL, shops)


def _measure(
    bench: Bench, name: str, shops: Sequence[Shopping], *, finish: Callable[[], None] = lambda: None
) -> Row:
    latencies: list[float] = []
    next_shop = cycle(shops)

    def client() -> Client:
        shopping = next(next_shop)
        while True:
            began = perf_counter()
            yield from journey(shopping)
            latencies.append(perf_counter() - began)

    whole = bench.run(client, turns=_TURNS, finish=finish)
    return Row(name, replace(whole, latencies=latencies))
