"""Batches of dispatches of the task `example`."""

from collections.abc import Callable, Iterator, Sequence

from commerce.outbox import crew
from commerce.outbox.handlers import Ended, Outcome
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests.commerce.outbox.rows import reread
from tests.factories import make_dispatch

AT_MOST = 4


class Example:
    """Runs each dispatch by `work`, all of them in one group unless `group_size` says otherwise.

    A subclass per test collects the sizes of batches and the ids of recorded dispatches.
    """

    sizes: list[int]
    accounts: list[set[int]]
    recorded: list[int]
    group_size = AT_MOST
    work: Callable[[OutboxDispatch], Outcome | Exception | None]

    def __init__(self, dispatches: Sequence[OutboxDispatch]) -> None:
        self.dispatches = dispatches
        self.sizes.append(len(dispatches))
        self.accounts.append({dispatch.account_id for dispatch in dispatches})

    def run(self) -> Iterator[list[Ended]]:
        group: list[Ended] = []
        for dispatch in self.dispatches:
            ended = type(self).work(dispatch)
            if ended is None:
                break
            group.append((dispatch, ended))
            if len(group) == self.group_size:
                yield group
                group = []
        yield group

    def record(self, closed: Sequence[OutboxDispatch]) -> None:
        self.recorded.extend(dispatch.pk for dispatch in closed)


def make_several(shop, number, **fields):
    return [make_dispatch(shop, task_name="example", **fields) for _ in range(number)]


def ends(shop, dispatches):
    rows = [reread(shop, dispatch) for dispatch in dispatches]
    return [(row.status, row.attempts) for row in rows]


def run_quickly(shop, kind):
    """Have the queue count as quick, by runs that are."""
    work, kind.work = kind.work, staticmethod(lambda dispatch: Outcome())
    make_several(shop, crew.QUICK_RUNS)
    run_due()
    kind.work = staticmethod(work)
    del kind.sizes[:], kind.recorded[:]


def columns(shop, dispatch):
    with shop.scope():
        return OutboxDispatch.objects.filter(pk=dispatch.pk).values().get()
