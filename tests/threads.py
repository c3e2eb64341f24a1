"""Real concurrency: the same thing done by many threads at once, each on a connection of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connections


def run_threads(number: int, work: Callable[[int], Any]) -> list[Any]:
    """Results of `work(0)` to `work(number - 1)`, started together; an exception stands in for its result."""
    barrier = Barrier(number)

    def one(index: int) -> Any:
        barrier.wait(timeout=30)
        try:
            return work(index)
        except Exception as error:  # noqa: BLE001  what a thread raises is what its test looks at
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))
