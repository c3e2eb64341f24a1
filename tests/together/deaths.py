"""A process that dies at any commit or any call of a gateway, as far as one process can play it for itself.

An act passes points: before and after each commit of an outermost transaction, and before and after each call of
the test card. At the point where it is to die, `Killed` is raised, which no `except Exception` catches; from there on
the database takes nothing of it but the rollback, so that no `finally` tidies up what a dead process could not.
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
# A point, and how many times an act passes it.
Death = tuple[str, int]
CALL_POINTS = tuple(f"{when} {call}" for call in GATEWAY_CALLS for when in ("before", "after"))


class Killed(BaseException):
    """The process is no more."""


class Mortality:
    """The first act that passes the point `dies_at[0]` for the `dies_at[1]`th time dies there; `deaths` counts them."""

    def __init__(self) -> None:
        self.dies_at: Death | None = None
        self.deaths: Counter[str] = Counter()
        self._is_living = False
        self._is_dead = False
        self._passed = 0

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
        if not self._is_living or self.dies_at is None or self.dies_at[0] != point:
            return
        self._passed += 1
        if self._passed >= self.dies_at[1]:
            self._is_dead = True
            self.deaths[point] += 1
            raise Killed

    @contextmanager
    def life(self) -> Iterator[None]:
        """What happens in here is done by a process that may die; raises `Killed` when it did."""
        self._is_living, self._passed = True, 0
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
        """The next act is another process's, on a connection of its own: its settings are those of a new one."""
        self._is_dead, self.dies_at = False, None
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL commerce.account_id = ''; SET LOCAL commerce.workspace_id = ''")

    def _mortal(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def mortal(*args: Any, **kwargs: Any) -> Any:
            self.pass_point(f"before {call.__name__}")
            result = call(*args, **kwargs)
            self.pass_point(f"after {call.__name__}")
            return result

        return mortal

    def _refuse_the_dead(self, execute: Any, sql: Any, *rest: Any) -> Any:
        if self._is_dead and not str(sql).startswith("ROLLBACK"):
            raise Killed
        return execute(sql, *rest)
