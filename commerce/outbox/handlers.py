"""The registry of tasks and the functions that run them. Each app registers its own when it is loaded."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from commerce.outbox.errors import UnknownTask
from commerce.outbox.models import OutboxDispatch
from commerce.principal import Holder
from commerce.tenancy.models import account_of
from commerce.tenancy.scope import account_scope


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. `record` stores its result in the transaction that closes the dispatch.

    So the result is stored once, even if two workers have done the same work.
    """

    status: OutboxDispatch.Status = OutboxDispatch.Status.SUCCEEDED
    record: Callable[[], object] = lambda: None


# Called outside of any scope. May raise `PermanentFailure` or `Postponed`; any other exception leads to a retry.
Handler = Callable[[OutboxDispatch], Outcome]
# A dispatch with its outcome, or with the exception that ended it.
Ended = tuple[OutboxDispatch, Outcome | Exception]
# Returns what a key or a member of the staff may see of a payload.
PayloadShaper = Callable[[dict[str, Any], Holder], dict[str, Any]]


class Batch(Protocol):
    """Runs dispatches of one account and one task together."""

    def run(self) -> Iterator[Iterable[Ended]]:
        """Run them outside of any scope. Those of each group that this yields are closed in one transaction.

        Dispatches that are in no group are released, and run later. So are all that are left when this raises an error,
        each by itself; the error of a single dispatch counts as its own, like a handler's.
        """
        ...

    def record(self, closed: Sequence[OutboxDispatch]) -> None:
        """Store the results of dispatches, in the transaction that closes them."""
        ...


# Makes a batch of dispatches.
BatchMaker = Callable[[Sequence[OutboxDispatch]], Batch]


class Single:
    """A batch of one dispatch, for a handler."""

    def __init__(self, handler: Handler, dispatches: Sequence[OutboxDispatch]) -> None:
        self._handler = handler
        (self._dispatch,) = dispatches
        self._outcome = Outcome()

    def run(self) -> Iterator[Iterable[Ended]]:
        self._outcome = self._handler(self._dispatch)
        yield [(self._dispatch, self._outcome)]

    def record(self, closed: Sequence[OutboxDispatch]) -> None:
        if closed:
            self._outcome.record()


def show_all(payload: dict[str, Any], holder: Holder) -> dict[str, Any]:
    return payload


@dataclass(frozen=True, slots=True, kw_only=True)
class _Registration:
    make_batch: BatchMaker
    at_most: int = 1
    newest_version: int = 1
    share: float = 1
    keeps_dead: bool = True
    area: str | None = None
    shape_payload: PayloadShaper = show_all


_registrations: dict[str, _Registration] = {}


def handles(
    task_name: str,
    *,
    newest_version: int = 1,
    share: float = 1,
    keeps_dead: bool = True,
    area: str | None = None,
    shape_payload: PayloadShaper = show_all,
) -> Callable[[Handler], Handler]:
    """Register a function for a task, with the newest payload version that it understands.

    It runs in at most this share of a process's threads at once. With `keeps_dead`, dead dispatches are kept until a
    person has retried or cancelled them; without it they are pruned like finished ones. `area` names the scopes that a
    key needs to see, retry or cancel the task's dispatches. Without an area, a key needs the scopes of all areas.
    `shape_payload` leaves out what even a key with those scopes may not see.
    """

    def register(handler: Handler) -> Handler:
        _registrations[task_name] = _Registration(
            make_batch=partial(Single, handler),
            newest_version=newest_version,
            share=share,
            keeps_dead=keeps_dead,
            area=area,
            shape_payload=shape_payload,
        )
        return handler

    return register


def handles_batches(
    task_name: str, *, at_most: int, area: str | None = None, shape_payload: PayloadShaper = show_all
) -> Callable[[BatchMaker], BatchMaker]:
    """Register what runs a task in batches of at most so many dispatches, and otherwise like `handles`."""

    def register(make_batch: BatchMaker) -> BatchMaker:
        _registrations[task_name] = _Registration(
            make_batch=make_batch, at_most=at_most, area=area, shape_payload=shape_payload
        )
        return make_batch

    return register


def find_batch_maker(dispatch: OutboxDispatch) -> BatchMaker:
    """What runs a dispatch.

    Raises `UnknownTask`, also for a payload newer than the handler, as may happen during a deployment.
    """
    registration = _registrations.get(dispatch.task_name)
    if dispatch.dispatch_type != "task":
        raise UnknownTask(f"No handler for a dispatch of the type {dispatch.dispatch_type!r}.")
    if registration is None or registration.newest_version < dispatch.payload_version:
        raise UnknownTask(f"No handler for {dispatch.task_name!r} version {dispatch.payload_version}.")
    return registration.make_batch


def largest_batch(task_name: str) -> int:
    """How many dispatches of a task run together at most."""
    registration = _registrations.get(task_name)
    return registration.at_most if registration else 1


def open_scope(dispatch: OutboxDispatch) -> AbstractContextManager[None]:
    """The scope of the dispatch's account, for handlers to read and write in."""
    return account_scope(account_of(dispatch))


def known_tasks() -> list[str]:
    return list(_registrations)


def task_shares() -> dict[str, float]:
    """The share of a process's threads that each task may use."""
    return {name: registration.share for name, registration in _registrations.items()}


def area_of(task_name: str) -> str | None:
    """The area of scopes that a task belongs to; None if it has none, or if this release doesn't know the task."""
    registration = _registrations.get(task_name)
    return registration.area if registration else None


def shape_payload(dispatch: OutboxDispatch, holder: Holder) -> dict[str, Any]:
    """Return what a key or a member of the staff may see of a dispatch's payload."""
    registration = _registrations.get(dispatch.task_name)
    return registration.shape_payload(dispatch.payload, holder) if registration else dispatch.payload


def tasks_of(areas: Collection[str]) -> list[str]:
    """The tasks of these areas of scopes."""
    return [name for name, registration in _registrations.items() if registration.area in areas]


def tasks_to_forget() -> list[str]:
    """The tasks whose dead dispatches are pruned like finished ones."""
    return [name for name, registration in _registrations.items() if not registration.keeps_dead]
