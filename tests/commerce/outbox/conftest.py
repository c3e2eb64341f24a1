from collections.abc import Callable

import pytest

from commerce.outbox import handlers
from commerce.outbox.handlers import Handler, Outcome


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
