"""Several shops at once: sending their acts, and the invariants after each act and at the end."""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import wraps
from itertools import count
from typing import Any

from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client, TestCase
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from accounts import authentication
from commerce.redis import client as redis_client
from commerce.rest import limits
from tests.checkouts.books import assert_books_agree
from tests.clients import ApiClient
from tests.together.deaths import CALL_POINTS, COMMIT_POINTS, Death, Killed, Mortality
from tests.together.digests import digest_of_rows
from tests.together.stalls import Stall, any_of, open_stall
from tests.together.tally import Tally

INDEXES = st.integers(0, 7)
# Mostly the first, so that acts affect each other.
STALLS = st.sampled_from([0, 0, 0, 0, 1, 2])
# Mostly none; else the point and its number within an act. A death at a call waits until there is one.
DEATHS = st.sampled_from(
    [
        *[None] * 40,
        *[(point, number) for point in COMMIT_POINTS for number in (1, 2, 3)],
        *[(point, 1) for point in CALL_POINTS],
    ]
)
# Responses that report that the renderer or an outside service doesn't answer.
MAY_FAIL = ("/email/", "/vat.json")


def act(**strategies: Any) -> Callable[[Callable[..., None]], Any]:
    """Make a rule whose process may die on the way, so that the rest of the act is left undone.

    If the act has no such commit or call, the `death` waits for one in later acts.
    """

    def decorate(method: Callable[..., None]) -> Any:
        @wraps(method)
        def acted(self: "Fair", death: Death | None = None, **given: Any) -> None:
            self.is_broken = True
            self.tally.acts[method.__name__] += 1
            if death:
                self.mortality.arm(death)
            with suppress(Killed):
                method(self, **given)
            self.is_broken = False

        return rule(death=DEATHS, **strategies)(acted)

    return decorate


class Fair(RuleBasedStateMachine):
    """Three stalls: the first two belong to one workspace, the third to another."""

    mortality: Mortality
    tally: Tally

    def __init__(self) -> None:
        super().__init__()
        self.tally.examples += 1
        # Whether a step has failed. If so, nothing more is checked.
        self.is_broken = False
        self.numbers = count(1)
        self.stalls: list[Stall] = []
        self.touched: list[Stall] = []
        # The shop that the last act was about, and what each shop's rows were when its books were last compared.
        self.visited: Stall | None = None
        self.digests: dict[int, str] = {}
        self.is_sent_twice: str | None = None
        # Each example is rolled back.
        self.savepoint = transaction.savepoint()

    def open_stalls(self, modes: list[bool], reserves_late: bool) -> None:
        workspace_id = None
        for number, includes_tax in enumerate(modes):
            # The first and the last have different settings, so that using another shop's settings is noticed.
            reserve_at = "payment_start" if reserves_late == bool(number) else "checkout_enter"
            stall = open_stall(
                number,
                workspace_id if number == 1 else None,
                includes_tax=includes_tax,
                reserve_at=reserve_at,
            )
            workspace_id = stall.shop.workspace_id
            self.stalls.append(stall)

    def stall(self, index: int) -> Stall:
        """Return the stall of this act, whose books are checked afterwards."""
        stall: Stall = any_of(self.stalls, index)
        if stall not in self.touched:
            self.touched.append(stall)
        if stall is not self.visited:
            known = self.digests.get(stall.shop.id)
            assert known in (None, digest_of_rows(stall.shop)), "Another shop's act changed rows of this one."
            self.visited = stall
        return stall

    def touch_all(self) -> None:
        """Note that the following may change rows of every shop."""
        self.touched = list(self.stalls)
        self.digests.clear()

    def send(
        self, stall: Stall, client: ApiClient, verb: str, path: str, body: Any = None, **headers: str
    ) -> HttpResponse:
        """Send a request; check that it didn't crash or reveal another shop. Raises `Killed`."""
        how, self.is_sent_twice = self.is_sent_twice, None
        if how == "keyed" and verb == "POST" and "idempotency_key" not in headers:
            headers = headers | {"idempotency_key": f"sent-twice-{next(self.numbers):020}"}
        try:
            answer = self._send(stall, client, verb, path, body, **headers)
        except Killed:
            if how is None:
                raise
            # The client got no answer and retries.
            return self._send(stall, client, verb, path, body, **headers)
        if how is None:
            return answer
        again = self._send(stall, client, verb, path, body, **headers)
        if "idempotency_key" in headers and verb == "POST" and answer.status_code < 300:
            assert (again.status_code, again.get("Idempotent-Replayed")) == (answer.status_code, "true")
            assert "secret" in answer.content.decode() or again.content == answer.content
            return answer
        return again

    def _send(
        self, stall: Stall, client: ApiClient, verb: str, path: str, body: Any, **headers: str
    ) -> HttpResponse:
        # A process that dies while reading leaves nothing behind.
        with nullcontext() if verb == "GET" else self.mortality.life():
            answer = client.send(verb, path, body, **headers)
        self.tally.note(verb, path if path.startswith("/") else client.prefix + path, answer.status_code)
        is_documented = answer.status_code in (502, 503) and any(part in path for part in MAY_FAIL)
        assert answer.status_code < 500 or is_documented, (verb, path, body, answer.content)
        text = answer.content.decode()
        for other in self.stalls:
            assert other is stall or not [name for name in other.names if name in text], (verb, path, text)
        return answer

    def storefront(
        self, stall: Stall, verb: str, path: str, body: Any = None, **headers: str
    ) -> HttpResponse:
        return self.send(stall, stall.shop.storefront, verb, path, body, **headers)

    def admin(self, stall: Stall, verb: str, path: str, body: Any = None) -> HttpResponse:
        """Send a request with the workspace's key, which reaches all of its shops."""
        return self.send(stall, stall.shop.workspace, verb, f"{stall.shop.handle}/{path}", body)

    def visit(self, path: str) -> None:
        """Visit one of the product's pages for browsers."""
        self.tally.requests += 1
        with self.mortality.life():
            assert Client().post(path).status_code in (303, 404)

    def work(self, job: Callable[[], Any]) -> None:
        """Run background work, and the callbacks of its commits."""
        with self.mortality.life(), TestCase.captureOnCommitCallbacks(execute=True):
            job()

    @act(points=st.sets(st.sampled_from(CALL_POINTS), min_size=1))
    def next_calls_die(self, points: set[str]) -> None:
        for point in sorted(points):
            self.mortality.arm((point, 1))

    next_calls_die_too = next_calls_die
    next_calls_die_at_last = next_calls_die

    @act(how=st.sampled_from(["keyed", "double-clicked"]))
    def next_request_is_sent_twice(self, how: str) -> None:
        self.is_sent_twice = how

    @invariant()
    def books_agree(self) -> None:
        touched, self.touched = self.touched, []
        for stall in touched:
            digest = digest_of_rows(stall.shop)
            if digest == self.digests.get(stall.shop.id):
                continue
            is_broken, self.is_broken = self.is_broken, True
            assert_books_agree(stall.shop, stall.opening)
            self.is_broken = is_broken
            self.digests[stall.shop.id] = digest

    def everybody_leaves(self) -> None:
        """Implemented in tests/together/passing.py."""
        raise NotImplementedError

    def teardown(self) -> None:
        try:
            self.mortality.disarm()
            self.is_sent_twice = None
            if self.stalls and not self.is_broken:
                self.everybody_leaves()
        finally:
            transaction.savepoint_rollback(self.savepoint)
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL commerce.account_id = ''; SET LOCAL commerce.workspace_id = ''")
            authentication._cache.clear()
            limits.forget_counts()
            redis_client().flushdb()
