from collections.abc import Callable

import pytest

from commerce.outbox import crew, handlers
from commerce.outbox.handlers import Handler, Outcome
from tests.commerce.outbox.batches import AT_MOST, Example


@pytest.fixture
def handle(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """Register a handler for a test: `ran = handle("example", work)`, where `ran` collects the ids run."""
    monkeypatch.setattr(handlers, "_registrations", dict(handlers._registrations))

    def register(task_name: str, work: Handler = lambda dispatch: Outcome(), **options) -> list[int]:
        ran = []

        @handlers.handles(task_name, **options)
        def handler(dispatch):
            ran.append(dispatch.pk)
            return work(dispatch)

        return ran

    return register


@pytest.fixture
def quick(monkeypatch) -> None:
    """Every queue counts as quick from the start."""
    monkeypatch.setattr(crew._Paces, "choose_size", lambda self, queue: handlers.largest_batch(queue[1]))


@pytest.fixture
def batches(handle) -> Callable[..., type[Example]]:
    """Register batches for the task `example`: `batches(work, group_size=1)`."""

    def register(work=lambda dispatch: Outcome(), *, group_size=AT_MOST) -> type[Example]:
        attributes = {"sizes": [], "accounts": [], "recorded": [], "group_size": group_size}
        kind = type("OfThisTest", (Example,), {**attributes, "work": staticmethod(work)})
        return handlers.handles_batches("example", at_most=AT_MOST)(kind)

    return register
