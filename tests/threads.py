"""Real concurrency: many threads run the same work at once, each on its own connection."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connections


def run_threads(number: int, work: Callable[[int], Any]) -> list[Any]:
    """Run `work(0)` to `work(number - 1)` concurrently. Return the results, or the exceptions raised instead."""
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
