"""Dispatches of one queue that run together."""

import time
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.outbox import crew
from commerce.outbox.errors import PermanentFailure, Postponed
from commerce.outbox.handlers import Outcome
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import MAX_TAKEN_BYTES
from commerce.outbox.worker import finish_running, run_due
from tests.commerce.outbox.batches import AT_MOST, ends, make_several
from tests.commerce.outbox.rows import reread
from tests.factories import make_dispatch
from tests.threads import run_threads

HOUR = timedelta(hours=1)


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
