"""A process that dies at any commit or at any call of a gateway.

An act passes points: before and after each commit of an outermost transaction, and before and after each call of
the test card. At the point where it is to die, `Killed` is raised, which no `except Exception` catches. From there on
the database accepts only the rollback, so that no `finally` tidies up what a dead process couldn't.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest
from django.db import connection
from django.db.transaction import Atomic

from commerce.payments.test_card.gateway import FakeCard

GATEWAY_CALLS = ("start", "report", "cancel", "refund")
COMMIT_POINTS = ("before commit", "after commit")
# A point, and how often an act passes it before it dies.
Death = tuple[str, int]
CALL_POINTS = tuple(f"{when} {call}" for call in GATEWAY_CALLS for when in ("before", "after"))


class Killed(BaseException):
    """The process has died."""


class Mortality:
    """Kills the acts that pass an armed point, and counts in `deaths` where they died, and in `calls` those of the gateway.

    One death may be armed for a commit, and one for each side of each call. Calls are rare, so a death that is armed for
    one waits until an act passes it, whatever else happens meanwhile.
    """

    def __init__(self) -> None:
        self.deaths: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self._armed: dict[str, int] = {}
        self._is_living = False
        self._is_dead = False
        self._passed: Counter[str] = Counter()

    def arm(self, death: Death) -> None:
        """Have the first act die that passes this point that often; a later death at a commit replaces it."""
        point, number = death
        if point in COMMIT_POINTS:
            for other in COMMIT_POINTS:
                self._armed.pop(other, None)
        self._armed[point] = number

    def disarm(self) -> None:
        self._armed.clear()

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Make commits and calls of the test card points, for as long as the patch holds."""
        end = Atomic.__exit__

        def mortal_end(atomic: Atomic, kind: Any, error: Any, trace: Any) -> None:
            if not (atomic.durable and kind is None):
                return end(atomic, kind, error, trace)
            try:
                self.pass_point("before commit")
            except Killed as killed:
                end(atomic, Killed, killed, killed.__traceback__)
                raise
            end(atomic, None, None, None)
            return self.pass_point("after commit")

        patch.setattr(Atomic, "__exit__", mortal_end)
        for name in GATEWAY_CALLS:
            patch.setattr(FakeCard, name, self._mortal(getattr(FakeCard, name)))

    def pass_point(self, point: str) -> None:
        if self._is_dead:
            raise Killed
        if not self._is_living or point not in self._armed:
            return
        self._passed[point] += 1
        if self._passed[point] >= self._armed[point]:
            del self._armed[point]
            self._is_dead = True
            self.deaths[point] += 1
            raise Killed

    @contextmanager
    def life(self) -> Iterator[None]:
        """Run the block as a process that may die; raises `Killed` if it did."""
        self._is_living = True
        self._passed.clear()
        try:
            with connection.execute_wrapper(self._refuse_the_dead):
                yield
            if self._is_dead:
                raise Killed
        finally:
            self._is_living = False
            if self._is_dead:
                self._bury()

    def _bury(self) -> None:
        """Clean up so that the next act runs like in another process, over a connection without settings."""
        self._is_dead = False
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL commerce.account_id = ''; SET LOCAL commerce.workspace_id = ''")

    def _mortal(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def mortal(*args: Any, **kwargs: Any) -> Any:
            self.pass_point(f"before {call.__name__}")
            self.calls[call.__name__] += 1
            result = call(*args, **kwargs)
            self.pass_point(f"after {call.__name__}")
            return result

        return mortal

    def _refuse_the_dead(self, execute: Any, sql: Any, *rest: Any) -> Any:
        if self._is_dead and not str(sql).startswith("ROLLBACK"):
            raise Killed
        return execute(sql, *rest)
