"""The threads of one worker process. Each runs one batch of dispatches at a time, of one account and one task.

Work is claimed only for threads that are free, so nothing waits behind a slow server. No account and no task gets
more than its share of the threads: however slow one shop's servers are, the other threads serve the other shops.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Lock
from typing import Protocol

from django.db import connection

from commerce.metrics import count_loop_failure
from commerce.outbox.claims import Claim, Claims, Limits, claim_dispatches
from commerce.outbox.handlers import largest_batch, task_shares
from commerce.outbox.runs import Ran

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
# How long a batch should take at most. A queue with slow servers gets smaller ones, in more threads.
BATCH_S = 1.0
# For how long a queue's dispatches run singly after some that couldn't run together.
SINGLE_S = 5.0


@dataclass(slots=True)
class _Pace:
    """Of a queue: how many dispatches in a row were quick, how many seconds each of the last ones took, and until when
    they run singly. Without that end, batches that run in other threads would make it quick again at once.
    """

    quick_runs: int = 0
    each_s: float = 0.0
    single_until: float = 0.0


class _Paces:
    """The paces of queues."""

    # Bounds the memory of a worker that serves many shops. Forgotten queues only lose their bonus for a few runs.
    _MAX_QUEUES = 10_000

    def __init__(self) -> None:
        self._paces: dict[tuple[int, str], _Pace] = {}

    def note(self, queue: tuple[int, str], ran: Ran, *, took_s: float) -> None:
        if len(self._paces) >= self._MAX_QUEUES:
            self._paces.clear()
        # A bonus would only make postponed work be claimed, and postponed, more often.
        if not ran.is_smooth or took_s > QUICK_S:
            single_s = 0.0 if ran.ran_together else SINGLE_S
            self._paces[queue] = _Pace(single_until=time.monotonic() + single_s)
            return
        pace = self._paces.setdefault(queue, _Pace())
        pace.quick_runs += ran.number
        pace.each_s = took_s / max(1, ran.number)

    def is_quick(self, queue: tuple[int, str]) -> bool:
        pace = self._paces.get(queue)
        return pace is not None and pace.quick_runs >= QUICK_RUNS

    def choose_size(self, queue: tuple[int, str]) -> int:
        """How many dispatches of a queue may run together: one, unless the last few were quick."""
        pace = self._paces.get(queue)
        if pace is None or pace.quick_runs < QUICK_RUNS or time.monotonic() < pace.single_until:
            return 1
        _, task_name = queue
        return max(1, min(largest_batch(task_name), int(BATCH_S / max(pace.each_s, 0.001))))


# The claims that run together, of one queue.
_Batch = tuple[Claim, ...]


class _Runner(Protocol):
    def __call__(self, claims: Sequence[Claim], *, at_most: int) -> Ran: ...


class Crew:
    """Runs dispatches in a pool of threads or, if `threads` is 1, in the caller's thread."""

    def __init__(self, threads: int, run: _Runner) -> None:
        self._threads = threads
        self._run_batch = run
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="outbox") if threads > 1 else None
        # Since when each batch has been running.
        self._running: dict[_Batch, float] = {}
        self._paces = _Paces()
        self._lock = Lock()
        self._has_ended = Event()
        # The queue that was served last. The next claim starts after it.
        self._after = (0, "")
        # Whether work may wait for the end of a run of the same task, or of one whose worker was lost.
        self._is_limited = False

    def run_due(self, *, within: timedelta, pause_s: float = 0) -> bool:
        """Run due dispatches until none is left; False if time ran out first.

        Dispatches that are still running then go on, and count in the next call. What becomes due in the `pause_s`
        seconds after a look for work is found together.
        """
        deadline = time.monotonic() + within.total_seconds()
        while True:
            # Cleared before claiming: a run that ends in between ends the wait below at once.
            self._has_ended.clear()
            looked_at = time.monotonic()
            # Before claiming: what runs then may hold work back, even if it ends meanwhile.
            is_idle = not self._running
            claims = self._claim()
            for batch in self._group(claims):
                with self._lock:
                    self._running[batch] = time.monotonic()
                if self._pool:
                    self._pool.submit(self._run, batch)
                else:
                    self._run(batch)
            if not claims and is_idle:
                return True
            if (left_s := deadline - time.monotonic()) <= 0:
                return False
            if self._pool:
                self._wait(left_s, pause_s=pause_s - (time.monotonic() - looked_at), found=len(claims))

    def finish(self) -> None:
        """Wait for running dispatches before the process ends."""
        if self._pool:
            self._pool.shutdown()

    def _wait(self, left_s: float, *, pause_s: float, found: int) -> None:
        """Wait until it makes sense to look for work again."""
        of_a_queue = self._count_threads(ACCOUNT_TASK_SHARE)
        is_full = len(self._running) >= self._threads
        if found >= of_a_queue and not is_full:
            # As much as one queue gets at a time, so more may be waiting.
            return
        if len(self._running) < of_a_queue and not self._is_limited and pause_s > 0:
            # No limit has been reached, so nothing waits for a run to end.
            time.sleep(min(left_s, pause_s))
            return
        self._has_ended.wait(left_s if is_full else min(left_s, LOOK_AGAIN_S))

    def _group(self, claims: Iterable[Claim]) -> list[_Batch]:
        batches: list[list[Claim]] = []
        filling: dict[tuple[int, str], list[Claim]] = {}
        for claim in claims:
            # One that may end this process takes no others along.
            batch = None if claim.was_lost else filling.get(claim.queue)
            if batch is None or len(batch) >= self._choose_size(batch):
                batch = []
                batches.append(batch)
            batch.append(claim)
            if not claim.was_lost:
                filling[claim.queue] = batch
        return [tuple(batch) for batch in batches]

    def _choose_size(self, batch: Sequence[Claim]) -> int:
        return 1 if batch[0].was_lost else self._paces.choose_size(batch[0].queue)

    def _claim(self) -> Claims:
        with self._lock:
            running = dict(self._running)
        if len(running) >= self._threads:
            return Claims([], after=self._after)
        tasks = Counter(first.task_name for first, *_ in running)
        limits = Limits(
            busy=self._list_counted(running),
            share=self._count_threads(ACCOUNT_SHARE),
            task_share=self._count_threads(ACCOUNT_TASK_SHARE),
            rooms={name: self._count_threads(share) - tasks[name] for name, share in task_shares().items()},
            lost_room=LOST_AT_ONCE - sum(first.was_lost for first, *_ in running),
        )
        # Only this thread claims, so runs that end meanwhile can only leave more threads free than were counted.
        claims = claim_dispatches(batch=self._threads - len(running), after=self._after, limits=limits)
        self._after = claims.after
        claimed = Counter(claim.task_name for claim in claims)
        is_room_full = any(room <= claimed[name] for name, room in limits.rooms.items())
        self._is_limited = is_room_full or limits.lost_room <= sum(claim.was_lost for claim in claims)
        for failed in claims.failed:
            logger.error("%s can't be claimed", failed)
            count_loop_failure("outbox_claims")
        return claims

    def _list_counted(self, running: dict[_Batch, float]) -> list[Claim]:
        """The first claim of each batch that counts against shares. Some of a quick queue don't; one thread stays free."""
        now = time.monotonic()
        # A long run costs its queue the bonus already before it ends and is noted.
        slow = {first.queue for (first, *_), began in running.items() if now - began > QUICK_S}
        extra = max(0, self._threads - 1 - self._count_threads(ACCOUNT_SHARE))
        counted, spared = [], Counter[int]()
        for first, *_ in running:
            is_quick = self._paces.is_quick(first.queue) and first.queue not in slow
            if is_quick and spared[first.account_id] < extra:
                spared[first.account_id] += 1
            else:
                counted.append(first)
        return counted

    def _count_threads(self, share: float) -> int:
        # At least one thread, or a process of few threads would never run some tasks.
        return max(1, int(share * self._threads))

    def _run(self, batch: _Batch) -> None:
        ran = Ran(0)
        try:
            ran = self._run_batch(batch, at_most=self._choose_size(batch))
        finally:
            with self._lock:
                took_s = time.monotonic() - self._running.pop(batch)
                self._paces.note(batch[0].queue, ran, took_s=took_s)
            self._has_ended.set()
            if self._pool:
                # Django closes connections after requests only, and each thread has one of its own.
                connection.close()
