"""Shares threads fairly: decides which of the waiting requests starts next."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

# Threads that each caller leaves to others.
_LEFT_TO_OTHERS = 2
# Requests that name the same cart or checkout wait for its lock in the database, each with a thread. More than two
# would only wait.
_MOST_PER_TARGET = 2


@dataclass(slots=True)
class Work:
    run: Callable[[], None]
    # The caller whose share of the threads it uses.
    caller: str
    # The cart or checkout that it names, if any.
    target: str | None = None
    # Whether it is one of the few requests that its target allows at once.
    holds_target: bool = False
    # Whether it has left its thread to others while it waits for an outside service.
    is_aside: bool = False


@dataclass(slots=True)
class _Caller:
    queue: deque[Work] = field(default_factory=deque)
    running: int = 0
    aside: int = 0
    # Requests in the queue, and requests that wait for their target.
    waiting: int = 0
    is_in_turn: bool = False


@dataclass(slots=True)
class _Target:
    holders: int = 0
    queue: deque[Work] = field(default_factory=deque)


class Turns:
    """Callers take turns. Each has its queue, and leaves some threads to the others.

    A request whose target has too many at work waits beside the queue, without a thread, and goes back to its end once
    the target is free. Not safe for use by several threads at once.
    """

    def __init__(self, threads: int, *, max_waiting: int) -> None:
        self._free = threads
        self._share = max(1, threads - _LEFT_TO_OTHERS)
        # One target doesn't use up its shop's share, unless that is a single thread.
        self._per_target = max(1, min(_MOST_PER_TARGET, self._share - 1))
        self._max_waiting = max_waiting
        self._waiting = 0
        self._callers: dict[str, _Caller] = {}
        self._targets: dict[tuple[str, str], _Target] = {}
        # Callers with a request that may start, in the order of their turns.
        self._turns: deque[_Caller] = deque()

    def add(self, work: Work) -> bool:
        """Queue the request; False if there is no place.

        A caller may take as many places as it leaves free: alone it gets half of them, and there is always one for a
        caller that has none yet.
        """
        caller = self._callers.get(work.caller)
        taken = caller.waiting if caller else 0
        if taken >= self._max_waiting - self._waiting:
            return False
        if caller is None:
            caller = self._callers[work.caller] = _Caller()
        caller.queue.append(work)
        caller.waiting += 1
        self._waiting += 1
        self._give_turn(caller)
        return True

    def next(self) -> Work | None:
        """Return the request to start now; None if no thread is free or none may start. `finish` must follow."""
        while self._free and self._turns:
            caller = self._turns.popleft()
            caller.is_in_turn = False
            work = self._first_with_target(caller)
            if work is not None:
                caller.waiting -= 1
                caller.running += 1
                self._waiting -= 1
                self._free -= 1
                self._give_turn(caller)
                return work
        return None

    def finish(self, work: Work) -> None:
        self.step_aside(work)
        caller = self._callers[work.caller]
        caller.aside -= 1
        if work.target is not None:
            self._leave_target(work.caller, work.target)
        self._give_turn(caller)
        if not caller.running and not caller.aside and not caller.waiting:
            del self._callers[work.caller]

    def step_aside(self, work: Work) -> None:
        """Leave the request's thread to others until `finish`. It still holds its target."""
        if work.is_aside:
            return
        work.is_aside = True
        caller = self._callers[work.caller]
        caller.running -= 1
        caller.aside += 1
        self._free += 1
        self._give_turn(caller)

    def _give_turn(self, caller: _Caller) -> None:
        if caller.queue and caller.running < self._share and not caller.is_in_turn:
            caller.is_in_turn = True
            self._turns.append(caller)

    def _first_with_target(self, caller: _Caller) -> Work | None:
        """Take the first request whose target is free off the queue. Those before it then wait for their targets."""
        while caller.queue:
            work = caller.queue.popleft()
            if work.target is None or work.holds_target or self._hold_target(work):
                return work
        return None

    def _hold_target(self, work: Work) -> bool:
        target = self._targets.setdefault((work.caller, work.target or ""), _Target())
        if target.holders >= self._per_target:
            target.queue.append(work)
            return False
        target.holders += 1
        work.holds_target = True
        return True

    def _leave_target(self, caller: str, name: str) -> None:
        """Release the target. The first request waiting for it gets it at once, so that none overtakes it."""
        target = self._targets[caller, name]
        if target.queue:
            first = target.queue.popleft()
            first.holds_target = True
            self._callers[caller].queue.append(first)
            return
        target.holders -= 1
        if not target.holders:
            del self._targets[caller, name]
