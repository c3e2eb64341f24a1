"""Shares threads fairly: decides which of the waiting requests starts next."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

# Threads that each caller leaves to others.
_LEFT_TO_OTHERS = 2
# Requests that name the same cart or checkout wait for its lock in the database, each with a thread. More than two
# would only wait.
_MOST_PER_TARGET = 2


@dataclass(slots=True, eq=False)
class Work:
    run: Callable[[], None]
    # Answers it instead, if there is no place for it.
    refuse: Callable[[], None]
    # The caller whose share of the threads it uses.
    caller: str
    # Which of the caller's queues it waits in: a flood in one doesn't delay the others.
    lane: str = ""
    # The cart or checkout that it names, if any.
    target: str | None = None
    # Whether it is one of the few requests that its target allows at once.
    holds_target: bool = False
    # Whether it waits for an outside service, and so counts for nobody.
    is_aside: bool = False
    # Whether it has ever done so: it keeps its spare thread to its end.
    has_spare: bool = False


@dataclass(slots=True)
class _Caller:
    # Requests that wait for a thread. The first lane has the next turn.
    lanes: dict[str, deque[Work]] = field(default_factory=dict)
    # All that wait, for a thread or for their target, oldest first.
    waiting: dict[Work, None] = field(default_factory=dict)
    running: int = 0
    aside: int = 0
    is_in_turn: bool = False

    @property
    def is_gone(self) -> bool:
        return not (self.running or self.aside or self.waiting)

    def queue(self, work: Work) -> None:
        self.lanes.setdefault(work.lane, deque()).append(work)

    def pop(self) -> Work:
        """Take the first request of the lane whose turn it is."""
        lane = next(iter(self.lanes))
        queue = self.lanes.pop(lane)
        work = queue.popleft()
        if queue:
            self.lanes[lane] = queue
        return work

    def find_newest(self, *, for_lane: str | None = None) -> Work | None:
        """Return the newest request of the longest lane.

        With `for_lane`, return None if that lane would be longer than this one after taking its place. Otherwise two
        lanes would take the same place from each other again and again.
        """
        lengths = Counter(work.lane for work in self.waiting)
        [(longest, length)] = lengths.most_common(1)
        if for_lane is not None and length - 1 < lengths[for_lane] + 1:
            return None
        return next(work for work in reversed(self.waiting) if work.lane == longest)


@dataclass(slots=True)
class _Target:
    holders: int = 0
    queue: deque[Work] = field(default_factory=deque)


class Turns:
    """Callers take turns. Each has its own queues, and leaves some threads to the others.

    A request whose target is busy with others leaves its queue, and waits without a thread. Once the target is free, it
    joins the end of the queue again. Not safe for use by several threads at once.
    """

    def __init__(self, threads: int, *, max_waiting: int, spare: int = 0) -> None:
        self._free = threads
        # Threads that have no request at all, spare ones included.
        self._idle = threads + spare
        self._share = max(1, threads - _LEFT_TO_OTHERS)
        # A target gets less than its shop's share, unless that is a single thread.
        self._per_target = max(1, min(_MOST_PER_TARGET, self._share - 1))
        self._max_waiting = max_waiting
        self._waiting = 0
        self._callers: dict[str, _Caller] = {}
        self._targets: dict[tuple[str, str], _Target] = {}
        # Callers with a request that may start, in the order of their turns.
        self._turns: deque[_Caller] = deque()

    def add(self, work: Work) -> Work | None:
        """Queue the request. Return the one that loses its place: none, another, or the new one itself.

        A caller may take as many places as it leaves free, so a single one gets half of them. When it has these, its
        shorter lanes take places from its longest one. A caller without a place always gets one. If none is free, the
        caller with most places gives up that of its newest request, unless it has only one.
        """
        caller = self._callers.get(work.caller)
        free = self._max_waiting - self._waiting
        dropped = None
        if caller is not None and caller.waiting:
            is_full = len(caller.waiting) >= free
            dropped = caller.find_newest(for_lane=work.lane) if is_full else None
        else:
            is_full = free <= 0
            dropped = self._find_newest() if is_full else None
        if is_full and dropped is None:
            return work
        if dropped is not None:
            self._drop(dropped)
        if caller is None:
            caller = self._callers[work.caller] = _Caller()
        caller.queue(work)
        caller.waiting[work] = None
        self._waiting += 1
        self._give_turn(caller)
        return dropped

    def close(self) -> list[Work]:
        """Take no more requests, and return those that wait. Those that run may finish."""
        self._max_waiting = 0
        waiting = [work for caller in self._callers.values() for work in caller.waiting]
        for work in waiting:
            self._drop(work)
        return waiting

    def next(self) -> Work | None:
        """Return the request to start now; None if no thread is free or none may start. `finish` must follow."""
        while self._free and self._idle and self._turns:
            caller = self._turns.popleft()
            caller.is_in_turn = False
            # If none may start, the caller loses its turn, and gets another when one of its running requests ends.
            work = self._take_first_startable(caller) if caller.running < self._share else None
            if work is not None:
                del caller.waiting[work]
                caller.running += 1
                self._waiting -= 1
                self._free -= 1
                self._idle -= 1
                self._give_turn(caller)
                return work
        return None

    def finish(self, work: Work) -> None:
        self.step_aside(work)
        caller = self._callers[work.caller]
        caller.aside -= 1
        self._idle += 1
        if work.holds_target:
            self._release_target(work)
        self._give_turn(caller)
        self._forget(work.caller)

    def step_aside(self, work: Work) -> None:
        """Leave the request's thread to others. It still holds its target."""
        if work.is_aside:
            return
        work.is_aside = True
        caller = self._callers[work.caller]
        caller.running -= 1
        caller.aside += 1
        if not work.has_spare:
            work.has_spare = True
            self._free += 1
        self._give_turn(caller)

    def step_back(self, work: Work) -> None:
        """Count the request for its caller again, which starts no other while it has more than its share."""
        if not work.is_aside:
            return
        work.is_aside = False
        caller = self._callers[work.caller]
        caller.running += 1
        caller.aside -= 1

    def _give_turn(self, caller: _Caller) -> None:
        if caller.lanes and caller.running < self._share and not caller.is_in_turn:
            caller.is_in_turn = True
            self._turns.append(caller)

    def _take_first_startable(self, caller: _Caller) -> Work | None:
        """Take the first request whose target is free from the queue. Those before it now wait for their targets."""
        while caller.lanes:
            work = caller.pop()
            if work.target is None or work.holds_target or self._take_target(work):
                return work
        return None

    def _take_target(self, work: Work) -> bool:
        target = self._targets.setdefault((work.caller, work.target or ""), _Target())
        if target.holders >= self._per_target:
            target.queue.append(work)
            return False
        target.holders += 1
        work.holds_target = True
        return True

    def _release_target(self, work: Work) -> None:
        """Release the target. The first request waiting for it gets it at once, so that none overtakes it."""
        name = (work.caller, work.target or "")
        target = self._targets[name]
        if target.queue:
            first = target.queue.popleft()
            first.holds_target = True
            self._callers[work.caller].queue(first)
            return
        target.holders -= 1
        if not target.holders:
            del self._targets[name]

    def _find_newest(self) -> Work | None:
        """Return a request of the caller with most waiting; None if nobody has two."""
        longest = max(self._callers.values(), key=lambda caller: len(caller.waiting), default=None)
        if longest is None or len(longest.waiting) < 2:
            return None
        return longest.find_newest()

    def _drop(self, work: Work) -> None:
        caller = self._callers[work.caller]
        del caller.waiting[work]
        self._waiting -= 1
        queue = caller.lanes.get(work.lane, deque())
        # The request waits either in its queue or for its target.
        if work in queue:
            queue.remove(work)
            if not queue:
                del caller.lanes[work.lane]
        else:
            self._targets[work.caller, work.target or ""].queue.remove(work)
        if work.holds_target:
            self._release_target(work)
            self._give_turn(caller)
        self._forget(work.caller)

    def _forget(self, name: str) -> None:
        if self._callers[name].is_gone:
            del self._callers[name]
