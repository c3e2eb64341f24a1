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
        self._startable: SimpleQueue[Work] = SimpleQueue()

    def start(self) -> None:
        for number in range(self._number):
            # A daemon, as the server has already waited for running requests when the process stops.
            Thread(target=self._run_forever, name=f"django-{number + 1}", daemon=True).start()

    def submit(self, work: Work) -> None:
        """Let the work wait for a thread. Refuses it, or another that waits, if there is no place."""
        with self._lock:
            refused = self._turns.add(work)
            self._start_next()
        # Outside of the lock, as it calls into the event loop.
        if refused is not None:
            refused.refuse()

    def close(self) -> None:
        """Refuse all work that waits, and all that comes."""
        with self._lock:
            waiting = self._turns.close()
        for work in waiting:
            work.refuse()

    def _start_next(self) -> None:
        while work := self._turns.next():
            self._startable.put(work)

    def _run_forever(self) -> None:
        while True:
            work = self._startable.get()
            when_waiting(partial(self._step_aside, work), partial(self._step_back, work))
            try:
                work.run()
            except BaseException:  # a thread that ends is never replaced
                logger.exception("A request was not answered")
            with self._lock:
                self._turns.finish(work)
                self._start_next()
            when_waiting(None, None)
            # Otherwise the thread would keep the request and its body in memory until its next one.
            del work

    def _step_aside(self, work: Work) -> None:
        with self._lock:
            self._turns.step_aside(work)
            self._start_next()

    def _step_back(self, work: Work) -> None:
        with self._lock:
            self._turns.step_back(work)
