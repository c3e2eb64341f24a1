"""The threads of one worker process. Each runs one dispatch at a time.

Work is claimed only for threads that are free, so nothing waits behind a slow server. No account and no task gets
more than its share of the threads: however slow one shop's servers are, the other threads serve the other shops.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event, Lock

from django.db import connection

from commerce.metrics import count_loop_failure
from commerce.outbox.claims import Claim, Claims, Limits, claim_dispatches
from commerce.outbox.handlers import task_shares

logger = logging.getLogger(__name__)

# The share of the threads that one account may use, and that one task of an account may use: a shop with slow webhooks
# still sends its emails.
ACCOUNT_SHARE = 1 / 2
ACCOUNT_TASK_SHARE = 3 / 8
# A queue whose last few runs were quick may use more than its share, as it frees its threads soon.
QUICK_RUNS = 5
QUICK_S = 2.0
# How many dispatches whose worker was lost run at a time: one of them may crash this process as well.
LOST_AT_ONCE = 1
# How often a process with idle threads looks for work while its other threads are busy.
LOOK_AGAIN_S = 0.1


class _Paces:
    """Counts quick runs in a row by queue."""

    # Bounds the memory of a worker that serves many shops. Forgotten queues only lose their bonus for a few runs.
    _MAX_QUEUES = 10_000

    def __init__(self) -> None:
        self._runs: Counter[tuple[int, str]] = Counter()

    def note(self, claim: Claim, seconds: float, *, was_postponed: bool) -> None:
        # A bonus would only make postponed work be claimed, and postponed, more often.
        if was_postponed or seconds > QUICK_S:
            self._runs.pop(claim.queue, None)
            return
        if len(self._runs) >= self._MAX_QUEUES:
            self._runs.clear()
        self._runs[claim.queue] += 1

    def is_quick(self, queue: tuple[int, str]) -> bool:
        return self._runs.get(queue, 0) >= QUICK_RUNS


class Crew:
    """Runs dispatches in a pool of threads or, if `threads` is 1, in the caller's thread.

    `run` runs one and returns whether it was postponed.
    """

    def __init__(self, threads: int, run: Callable[[Claim], bool]) -> None:
        self._threads = threads
        self._run_one = run
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="outbox") if threads > 1 else None
        self._running: dict[Claim, float] = {}
        self._paces = _Paces()
        self._lock = Lock()
        self._has_ended = Event()
        # The queue that was served last. The next claim starts after it.
        self._after = (0, "")

    def run_due(self, *, within: timedelta) -> bool:
        """Run due dispatches until none is left; False if time ran out first.

        Dispatches that are still running then go on, and count in the next call.
        """
        deadline = time.monotonic() + within.total_seconds()
        while True:
            # Cleared before claiming: a run that ends in between ends the wait below at once.
            self._has_ended.clear()
            claims = self._claim()
            for claim in claims:
                with self._lock:
                    self._running[claim] = time.monotonic()
                if self._pool:
                    self._pool.submit(self._run, claim)
                else:
                    self._run(claim)
            if not claims and not self._running:
                return True
            if (left_s := deadline - time.monotonic()) <= 0:
                return False
            if self._pool:
                is_full = len(self._running) >= self._threads
                self._has_ended.wait(left_s if is_full else min(left_s, LOOK_AGAIN_S))

    def finish(self) -> None:
        """Wait for running dispatches before the process ends."""
        if self._pool:
            self._pool.shutdown()

    def _claim(self) -> Claims:
        with self._lock:
            running = dict(self._running)
        if len(running) >= self._threads:
            return Claims([], after=self._after)
        tasks = Counter(claim.task_name for claim in running)
        limits = Limits(
            busy=self._list_counted(running),
            share=self._count_threads(ACCOUNT_SHARE),
            task_share=self._count_threads(ACCOUNT_TASK_SHARE),
            rooms={name: self._count_threads(share) - tasks[name] for name, share in task_shares().items()},
            lost_room=LOST_AT_ONCE - sum(claim.was_lost for claim in running),
        )
        # Only this thread claims, so runs that end meanwhile can only leave more threads free than were counted.
        claims = claim_dispatches(batch=self._threads - len(running), after=self._after, limits=limits)
        self._after = claims.after
        for failed in claims.failed:
            logger.error("%s can't be claimed", failed)
            count_loop_failure("outbox_claims")
        return claims

    def _list_counted(self, running: dict[Claim, float]) -> list[Claim]:
        """The running dispatches that count against shares. Some of a quick queue don't; one thread stays free."""
        now = time.monotonic()
        # A long run costs its queue the bonus already before it ends and is noted.
        slow = {claim.queue for claim, began in running.items() if now - began > QUICK_S}
        extra = max(0, self._threads - 1 - self._count_threads(ACCOUNT_SHARE))
        counted, spared = [], Counter[int]()
        for claim in running:
            is_quick = self._paces.is_quick(claim.queue) and claim.queue not in slow
            if is_quick and spared[claim.account_id] < extra:
                spared[claim.account_id] += 1
            else:
                counted.append(claim)
        return counted

    def _count_threads(self, share: float) -> int:
        # At least one thread, or a process of few threads would never run some tasks.
        return max(1, int(share * self._threads))

    def _run(self, claim: Claim) -> None:
        was_postponed = False
        try:
            was_postponed = self._run_one(claim)
        finally:
            with self._lock:
                took_s = time.monotonic() - self._running.pop(claim)
                self._paces.note(claim, took_s, was_postponed=was_postponed)
            self._has_ended.set()
            if self._pool:
                # Django closes connections after requests only, and each thread has one of its own.
                connection.close()
