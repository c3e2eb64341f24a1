"""A few threads with a bounded queue in front of them."""

import logging
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

logger = logging.getLogger(__name__)


class Threads:
    def __init__(self, number: int, *, max_waiting: int) -> None:
        self._number = number
        self._max_waiting = max_waiting
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def start(self) -> None:
        for number in range(self._number):
            # A daemon, as the server has already waited for running requests when the process stops.
            Thread(target=self._work, name=f"django-{number + 1}", daemon=True).start()

    def submit(self, job: Callable[[], None]) -> bool:
        """Queue the work for a thread; False if the queue is full."""
        if self._jobs.qsize() >= self._max_waiting:
            return False
        self._jobs.put(job)
        return True

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                job()
            except BaseException:  # a thread that ends is never replaced
                logger.exception("A request was not answered")
            del job
