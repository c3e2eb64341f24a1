"""Which function does the work of which task. Each app registers its own when it is loaded."""

from collections.abc import Callable
from dataclasses import dataclass

from commerce.outbox.errors import UnknownTask
from commerce.outbox.models import OutboxDispatch


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. `record` writes what came of it, in the transaction that closes the dispatch.

    So it is written once, even if two workers have done the same work.
    """

    status: OutboxDispatch.Status = OutboxDispatch.Status.SUCCEEDED
    record: Callable[[], object] = _nothing


# Runs with no scope open. Raises `PermanentFailure`, `Postponed`; after any other exception the work is tried again.
Handler = Callable[[OutboxDispatch], Outcome]


@dataclass(frozen=True, slots=True)
class _Registration:
    handler: Handler
    newest_version: int


_registrations: dict[str, _Registration] = {}


def handles(task_name: str, *, newest_version: int = 1) -> Callable[[Handler], Handler]:
    """Register a function for a task, with the newest payload version that it understands."""

    def register(handler: Handler) -> Handler:
        _registrations[task_name] = _Registration(handler, newest_version)
        return handler

    return register


def handler_of(dispatch: OutboxDispatch) -> Handler:
    """Raises `UnknownTask`, also for a payload newer than the handler, as in the midst of a deployment."""
    registration = _registrations.get(dispatch.task_name)
    if registration is None or registration.newest_version < dispatch.payload_version:
        raise UnknownTask(f"No handler for {dispatch.task_name!r} version {dispatch.payload_version}.")
    return registration.handler
