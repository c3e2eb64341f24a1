"""A few threads with a bounded number of waiting requests in front of them."""

import logging
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread

from commerce.outside.working import when_waiting
from config.front.turns import Turns, Work

logger = logging.getLogger(__name__)


class Threads:
    """`number` threads work at once. `spare` ones stand in for those that wait for outside services."""

    def __init__(self, number: int, *, max_waiting: int, spare: int = 0) -> None:
        self._number = number + spare
        self._turns = Turns(number, max_waiting=max_waiting, spare=spare)
        self._lock = Lock()
        self._begun: SimpleQueue[Work] = SimpleQueue()

    def start(self) -> None:
        for number in range(self._number):
            # A daemon, as the server has already waited for running requests when the process stops.
            Thread(target=self._work, name=f"django-{number + 1}", daemon=True).start()

    def submit(self, work: Work) -> None:
        """Let the work wait for a thread. Refuses it, or another that waits, if there is no place."""
        with self._lock:
            refused = self._turns.add(work)
            self._begin()
        if refused is not None:
            refused.refuse()

    def close(self) -> None:
        """Refuse all work that waits, and all that comes."""
        with self._lock:
            waiting = self._turns.close()
        for work in waiting:
            work.refuse()

    def _begin(self) -> None:
        while work := self._turns.next():
            self._begun.put(work)

    def _work(self) -> None:
        while True:
            work = self._begun.get()
            when_waiting(partial(self._step_aside, work), partial(self._step_back, work))
            try:
                work.run()
            except BaseException:  # a thread that ends is never replaced
                logger.exception("A request was not answered")
            with self._lock:
                self._turns.finish(work)
                self._begin()
            when_waiting(None, None)
            del work

    def _step_aside(self, work: Work) -> None:
        with self._lock:
            self._turns.step_aside(work)
            self._begin()

    def _step_back(self, work: Work) -> None:
        with self._lock:
            self._turns.step_back(work)
