"""Dispatches of one queue that run together."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.outbox import crew, handlers
from commerce.outbox.errors import PermanentFailure, Postponed
from commerce.outbox.handlers import Ended, Outcome
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import MAX_TAKEN_BYTES
from commerce.outbox.worker import finish_running, run_due
from tests.commerce.outbox.rows import reread
from tests.factories import make_dispatch
from tests.poison import poisoned
from tests.threads import run_threads

AT_MOST = 4
HOUR = timedelta(hours=1)


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


def make_several(shop, number, **fields):
    return [make_dispatch(shop, task_name="example", **fields) for _ in range(number)]


def ends(shop, dispatches):
    rows = [reread(shop, dispatch) for dispatch in dispatches]
    return [(row.status, row.attempts) for row in rows]


def test_queue_runs_in_batches_once_its_last_runs_were_quick(shop, batches):
    kind = batches()
    made = make_several(shop, crew.QUICK_RUNS + 2 * AT_MOST + 1)

    run_due()

    assert kind.sizes == [1] * crew.QUICK_RUNS + [AT_MOST, AT_MOST, 1]
    assert sorted(kind.recorded) == [dispatch.pk for dispatch in made]
    assert set(ends(shop, made)) == {("succeeded", 0)}


def test_slower_queue_runs_in_smaller_batches(shop, batches, monkeypatch):
    monkeypatch.setattr(crew, "BATCH_S", 0.05)

    def work(dispatch):
        time.sleep(0.02)
        return Outcome()

    kind = batches(work)
    make_several(shop, crew.QUICK_RUNS + 4)

    run_due(within=timedelta(minutes=1))

    assert max(kind.sizes) <= 2
    assert sum(kind.sizes) == crew.QUICK_RUNS + 4


def test_postponed_work_runs_by_itself_again(shop, batches):
    is_calm = False

    def work(dispatch):
        return Outcome() if is_calm else Postponed("Not yet.", until=timezone.now() - HOUR)

    kind = batches(work)
    make_several(shop, crew.QUICK_RUNS)
    is_calm = True
    run_due()
    is_calm = False
    (last,) = make_several(shop, 1)
    run_due(within=timedelta(0))
    is_calm = True
    make_several(shop, AT_MOST)
    del kind.sizes[:]

    run_due()

    assert kind.sizes[: crew.QUICK_RUNS] == [1] * crew.QUICK_RUNS
    assert reread(shop, last).status == "succeeded"


@pytest.mark.usefixtures("quick")
def test_batch_has_dispatches_of_one_account_and_one_task(shop, other_shop, batches, handle):
    kind, others = batches(), handle("other")
    for _ in range(AT_MOST):
        make_several(shop, 1)
        make_several(other_shop, 1)
        make_dispatch(shop, task_name="other")
    later = make_several(shop, 1, due_at=timezone.now() + HOUR)
    waiting = make_dispatch(shop, task_name="example", status="cancelled", finished_at=timezone.now())

    run_due()

    assert sorted(map(sorted, kind.accounts)) == [[shop.id], [other_shop.id]]
    assert kind.sizes == [AT_MOST, AT_MOST]
    assert len(others) == AT_MOST
    assert ends(shop, [*later, waiting]) == [("pending", 0), ("cancelled", 0)]


@pytest.mark.usefixtures("quick")
def test_each_dispatch_of_a_batch_ends_in_its_own_way(shop, batches):
    made = make_several(shop, 4)
    endings = dict(
        zip(
            (dispatch.pk for dispatch in made),
            (
                Outcome(),
                PermanentFailure("Refused."),
                RuntimeError("no luck"),
                Outcome(OutboxDispatch.Status.SKIPPED),
            ),
            strict=True,
        )
    )
    kind = batches(lambda dispatch: endings[dispatch.pk])

    run_due()

    assert kind.sizes == [4]
    assert ends(shop, made) == [("succeeded", 0), ("dead", 0), ("pending", 1), ("skipped", 0)]
    assert reread(shop, made[1]).last_error == "PermanentFailure: Refused."
    assert reread(shop, made[2]).last_error == "RuntimeError: no luck"
    assert sorted(kind.recorded) == [made[0].pk, made[3].pk]


def test_error_of_a_whole_batch_is_counted_by_the_one_that_raises_it(shop, batches):
    def work(dispatch):
        if dispatch.payload.get("is_bad"):
            raise RuntimeError("no luck")
        return Outcome()

    kind = batches(work)
    run_quickly(shop, kind)
    good = make_several(shop, 2)
    bad = make_dispatch(shop, task_name="example", payload={"is_bad": True})
    good += make_several(shop, 1)

    run_due()

    # Together, then each by itself.
    assert kind.sizes[:5] == [4, 1, 1, 1, 1]
    assert set(ends(shop, good)) == {("succeeded", 0)}
    assert ends(shop, [bad]) == [("pending", 1)]
    assert reread(shop, bad).last_error == "RuntimeError: no luck"
    assert sorted(kind.recorded) == sorted(dispatch.pk for dispatch in good)


def test_dispatches_that_a_batch_leaves_are_released_as_they_were(shop, batches):
    """The first of each batch is run, and the rest is left."""
    batch = []

    def work(dispatch):
        batch.append(dispatch.pk)
        return Outcome() if len(batch) == 1 else None

    kind = batches(work)
    run_quickly(shop, kind)
    made = make_several(shop, 3, due_at=timezone.now() - HOUR, last_error="Earlier.", attempts=2)
    before = [columns(shop, dispatch) for dispatch in made]

    run_due(within=timedelta(0))

    assert kind.sizes == [3]
    changed = [columns(shop, dispatch) != held for dispatch, held in zip(made, before, strict=True)]
    assert changed == [True, False, False]
    assert ends(shop, made[:1]) == [("succeeded", 2)]


@pytest.mark.django_db(transaction=True)
def test_result_that_can_not_be_stored_fails_alone(shop, batches):
    kind = batches()
    run_quickly(shop, kind)
    made = make_several(shop, 3)

    with poisoned("outbox_dispatches", made[1].pk, when="NEW.status = 'succeeded'"):
        run_due()

    assert kind.sizes[0] == 3
    assert ends(shop, made) == [("succeeded", 0), ("pending", 1), ("succeeded", 0)]


@pytest.mark.usefixtures("quick")
def test_dispatch_that_another_worker_has_taken_over_is_not_recorded(shop, batches):
    made = make_several(shop, 3)

    def work(dispatch):
        if dispatch == made[2]:
            with shop.scope():
                taken_over = OutboxDispatch.objects.filter(pk=made[1].pk)
                taken_over.update(locked_until=timezone.now() + HOUR)
        return Outcome()

    kind = batches(work)

    run_due()

    assert ends(shop, made) == [("succeeded", 0), ("processing", 0), ("succeeded", 0)]
    assert sorted(kind.recorded) == [made[0].pk, made[2].pk]


@pytest.mark.usefixtures("quick")
def test_groups_of_a_batch_are_closed_before_it_goes_on(shop, batches):
    made = make_several(shop, 3)
    seen = []

    def work(dispatch):
        seen.append([status for status, _ in ends(shop, made)])
        return Outcome()

    batches(work, group_size=1)

    run_due()

    assert seen == [
        ["processing", "processing", "processing"],
        ["succeeded", "processing", "processing"],
        ["succeeded", "succeeded", "processing"],
    ]


@pytest.mark.usefixtures("quick")
def test_dispatch_whose_worker_was_lost_runs_by_itself(shop, batches):
    kind = batches()
    lost = make_several(shop, 2, status="processing", locked_until=timezone.now() - HOUR)
    waiting = make_several(shop, 2)

    run_due()

    assert sorted(kind.sizes) == [1, 1, 2]
    assert ends(shop, lost + waiting) == [("succeeded", 1)] * 2 + [("succeeded", 0)] * 2


@pytest.mark.usefixtures("quick")
def test_newer_payload_in_a_batch_is_left_to_a_newer_worker(shop, batches):
    kind = batches()
    old = make_several(shop, 2)
    (new,) = make_several(shop, 1, payload_version=2)

    run_due()

    assert kind.sizes == [2]
    assert ends(shop, [*old, new]) == [("succeeded", 0), ("succeeded", 0), ("pending", 0)]
    assert reread(shop, new).due_at > timezone.now()


@pytest.mark.usefixtures("quick")
def test_interrupted_batch_is_given_back_at_once(shop, batches):
    def work(dispatch):
        raise KeyboardInterrupt

    batches(work)
    made = make_several(shop, 2)

    with pytest.raises(KeyboardInterrupt):
        run_due()

    assert ends(shop, made) == [("pending", 1), ("pending", 1)]


@pytest.mark.usefixtures("quick")
@pytest.mark.django_db(transaction=True)
def test_four_workers_run_each_dispatch_once(shop, other_shop, batches):
    ran = Counter()

    def work(dispatch):
        ran[dispatch.pk] += 1
        return Outcome()

    kind = batches(work)
    made = [*make_several(shop, 40), *make_several(other_shop, 40)]

    run_threads(4, lambda _index: run_due())

    assert ran == dict.fromkeys((dispatch.pk for dispatch in made), 1)
    assert max(kind.sizes) == AT_MOST
    assert sorted(kind.recorded) == sorted(ran)


@pytest.mark.usefixtures("quick")
@pytest.mark.django_db(transaction=True)
def test_what_becomes_due_during_a_pause_runs_together(shop, batches, settings):
    settings.OUTBOX_THREADS = 8
    made = []

    def work(dispatch):
        if not made:
            made.extend(make_several(shop, 2))
        return Outcome()

    kind = batches(work)
    make_several(shop, 1)

    assert run_due(pause_s=0.5) is True
    finish_running()

    assert kind.sizes == [1, 2]
    assert ends(shop, made) == [("succeeded", 0)] * 2


@pytest.mark.django_db(transaction=True)
def test_row_that_can_not_be_changed_is_left_out_of_batches(shop, batches):
    kind = batches()
    run_quickly(shop, kind)
    bad = make_dispatch(shop, task_name="example", due_at=timezone.now() - HOUR)
    good = make_several(shop, 12)

    with poisoned("outbox_dispatches", bad.pk):
        run_due()

        assert set(ends(shop, good)) == {("succeeded", 0)}
        assert ends(shop, [bad]) == [("pending", 0)]


@pytest.mark.django_db(transaction=True)
def test_row_that_can_not_be_closed_leaves_the_rest_of_its_batch_alone(shop, batches):
    kind = batches()
    run_quickly(shop, kind)
    made = make_several(shop, 4)

    with poisoned("outbox_dispatches", made[0].pk, when="NEW.status <> 'processing'"):
        run_due()

    assert ends(shop, made) == [("processing", 0), *[("succeeded", 0)] * 3]


@pytest.mark.django_db(transaction=True)
def test_row_that_can_not_be_released_leaves_the_rest_of_its_batch_alone(shop, batches):
    batch = []

    def work(dispatch):
        batch.append(dispatch.pk)
        return None if len(batch) == 1 else Outcome()

    kind = batches(work)
    run_quickly(shop, kind)
    made = make_several(shop, 4)

    with poisoned("outbox_dispatches", made[0].pk, when="NEW.status <> 'processing'"):
        run_due()

    assert ends(shop, made) == [("processing", 0), *[("succeeded", 0)] * 3]
    assert kind.sizes == [4, 1, 1, 1]


def test_queue_runs_singly_for_a_while_after_a_batch_that_failed(shop, batches, monkeypatch):
    monkeypatch.setattr(crew, "SINGLE_S", 3600)
    troubles = [RuntimeError("no luck")]

    def work(dispatch):
        if troubles and len(kind.sizes) and kind.sizes[-1] > 1:
            raise troubles.pop()
        return Outcome()

    kind = batches(work)
    run_quickly(shop, kind)
    made = make_several(shop, 12)

    run_due()

    assert kind.sizes == [AT_MOST] + [1] * 12
    assert set(ends(shop, made)) == {("succeeded", 0)}


@pytest.mark.usefixtures("quick")
@pytest.mark.django_db(transaction=True)
def test_dispatch_with_a_large_message_is_not_taken_into_a_batch(shop, batches):
    kind = batches()
    small = make_several(shop, 2, due_at=timezone.now() - HOUR, message={"html": "small"})
    large = make_several(shop, 2, message={"html": "x" * MAX_TAKEN_BYTES})

    run_due()

    assert kind.sizes == [2, 1, 1]
    assert set(ends(shop, small + large)) == {("succeeded", 0)}


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        # One at a time, like pings.
        ({"share": 1 / 8}, {}),
        # Those whose worker was lost run one at a time, whatever their task.
        ({}, {"status": "processing", "locked_until": timezone.now() - HOUR}),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_work_that_runs_one_at_a_time_does_not_wait_for_the_pause(shop, handle, settings, options, columns):
    settings.OUTBOX_THREADS = 8
    ran = handle("example", **options)
    for _ in range(10):
        make_dispatch(shop, task_name="example", **columns)
    began = time.monotonic()

    run_due(pause_s=3)
    finish_running()

    assert len(ran) == 10
    # The last pause may be waited for, but not one after each run.
    assert time.monotonic() - began < 9


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
