import logging
import socket
import time
from datetime import timedelta
from itertools import count
from threading import Barrier, Event, Lock

import pytest
from django.db import connection
from django.utils import timezone

from commerce.customers.models import Customer
from commerce.outbox import crew
from commerce.outbox.claims import claim_dispatches
from commerce.outbox.errors import PermanentFailure, Postponed
from commerce.outbox.handlers import Outcome
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import finish_running, run_dispatch, run_due
from commerce.outside.lookups import MAX_LOOKUPS, look_up
from commerce.tenancy.scope import account_in_scope
from tests.factories import make_customer, make_dispatch
from tests.metrics import failures_of
from tests.poison import poisoned
from tests.threads import run_threads


def fail(_dispatch):
    raise RuntimeError("no luck")


def refuse(_dispatch):
    raise PermanentFailure("never")


def reread(shop, dispatch):
    with shop.scope():
        return OutboxDispatch.objects.get(pk=dispatch.pk)


def make_due(shop, dispatch):
    with shop.scope():
        OutboxDispatch.objects.filter(pk=dispatch.pk).update(due_at=timezone.now())


def test_run_closes_what_succeeded(shop, handle):
    ran = handle("example")
    dispatch = make_dispatch(shop, task_name="example")

    assert run_due() is True

    done = reread(shop, dispatch)
    assert ran == [dispatch.pk]
    assert done.status == "succeeded"
    assert done.attempts == 0
    assert done.locked_until is None
    assert done.finished_at is not None
    assert done.last_error == ""


def test_run_records_with_the_close(shop, handle):
    handle("example", lambda dispatch: Outcome(record=lambda: make_customer(shop, email="a@example.com")))
    dispatch = make_dispatch(shop)

    run_due()

    assert reread(shop, dispatch).status == "succeeded"
    with shop.scope():
        assert Customer.objects.get().email == "a@example.com"


def test_run_whose_record_fails_is_tried_again(shop, handle):
    handle("example", lambda dispatch: Outcome(record=lambda: fail(dispatch)))
    dispatch = make_dispatch(shop)

    run_due()

    assert reread(shop, dispatch).status == "pending"
    assert reread(shop, dispatch).last_error == "RuntimeError: no luck"


@pytest.mark.django_db(transaction=True)
def test_run_calls_the_handler_without_a_transaction(shop, handle):
    seen = []
    handle("example", lambda _: seen.append((connection.in_atomic_block, account_in_scope())) or Outcome())
    make_dispatch(shop)

    run_due()

    assert seen == [(False, None)]


def test_failed_run_is_retried_after_30_s_60_s_5_min_30_min_2_h_then_dead(shop, handle):
    ran = handle("example", fail)
    dispatch = make_dispatch(shop)
    delays = []

    for attempts in range(1, 6):
        before = timezone.now()
        run_due()
        failed = reread(shop, dispatch)
        assert failed.status == "pending"
        assert failed.attempts == attempts
        assert failed.locked_until is None
        assert failed.last_error == "RuntimeError: no luck"
        delays.append(round((failed.due_at - before).total_seconds(), -1))
        make_due(shop, dispatch)
    run_due()

    assert delays == [30, 60, 300, 1800, 7200]
    dead = reread(shop, dispatch)
    assert dead.status == "dead"
    assert dead.attempts == 5
    assert dead.finished_at is not None
    assert len(ran) == 6


def test_failed_run_waits_until_it_is_due(shop, handle):
    ran = handle("example", fail)
    make_dispatch(shop)

    run_due()
    run_due()

    assert len(ran) == 1


def test_failed_run_keeps_to_its_own_max_attempts(shop, handle):
    handle("example", fail)
    dispatch = make_dispatch(shop, max_attempts=0)

    run_due()

    assert reread(shop, dispatch).status == "dead"
    assert reread(shop, dispatch).attempts == 0


def test_permanent_failure_is_dead_at_once(shop, handle):
    ran = handle("example", refuse)
    dispatch = make_dispatch(shop)

    run_due()

    dead = reread(shop, dispatch)
    assert dead.status == "dead"
    assert dead.attempts == 0
    assert dead.last_error == "PermanentFailure: never"
    assert len(ran) == 1


def test_failure_does_not_stop_the_others(shop, other_shop, handle):
    handle("bad", fail)
    ran = handle("good")
    make_dispatch(shop, task_name="bad", due_at=timezone.now() - timedelta(minutes=1))
    good = [make_dispatch(shop, task_name="good"), make_dispatch(other_shop, task_name="good")]

    run_due()

    assert sorted(ran) == sorted(dispatch.pk for dispatch in good)


def test_failure_message_that_the_database_cannot_hold_is_kept_as_far_as_it_can(shop, handle, caplog):
    def fail_badly(_dispatch):
        raise RuntimeError("a\x00b\ud800" + "c" * 5000)

    handle("example", fail_badly)
    dispatch = make_dispatch(shop)

    # Not in the captured log, because a test process can't send unencodable text to its parent.
    with caplog.at_level(logging.CRITICAL):
        run_due()

    assert reread(shop, dispatch).last_error.startswith("RuntimeError: ab?ccc")
    assert len(reread(shop, dispatch).last_error) == 2000


@pytest.mark.parametrize("version", [1, 2])
def test_run_takes_payloads_up_to_the_newest_version_known(shop, handle, version):
    ran = handle("example", newest_version=2)
    make_dispatch(shop, payload_version=version)

    run_due()

    assert len(ran) == 1


def test_run_leaves_newer_payloads_and_unknown_tasks_to_newer_workers(shop, handle):
    ran = handle("example", newest_version=2)
    newer = make_dispatch(shop, payload_version=3)
    unknown = make_dispatch(shop, task_name="unknown")

    before = timezone.now()
    run_due()

    assert ran == []
    left = reread(shop, newer)
    assert (left.status, left.attempts, left.locked_until) == ("pending", 0, None)
    assert left.last_error == "UnknownTask: No handler for 'example' version 3."
    assert timedelta(seconds=29) < left.due_at - before < timedelta(seconds=60)
    assert (reread(shop, unknown).status, reread(shop, unknown).attempts) == ("pending", 0)


def test_run_that_is_postponed_is_no_try(shop, handle):
    until = timezone.now() + timedelta(minutes=7)

    def postpone(_dispatch):
        raise Postponed("Not yet.", until=until)

    handle("example", postpone)
    dispatch = make_dispatch(shop)

    run_due()

    left = reread(shop, dispatch)
    assert (left.status, left.attempts, left.due_at) == ("pending", 0, until)
    assert (left.locked_until, left.last_error) == (None, "Not yet.")


def test_run_leaves_a_payload_to_newer_workers_for_as_long_as_it_takes(shop, handle):
    handle("example", newest_version=2)
    newer = make_dispatch(shop, payload_version=3)
    for _ in range(10):
        run_due()
        make_due(shop, newer)

    ran = handle("example", newest_version=3)
    run_due()

    assert ran == [newer.pk]
    assert (reread(shop, newer).status, reread(shop, newer).attempts) == ("succeeded", 0)


def test_worker_that_was_overtaken_while_it_worked_records_nothing(shop, handle):
    recorded = []

    def take_over(dispatch):
        with shop.scope():
            OutboxDispatch.objects.filter(pk=dispatch.pk).update(
                locked_until=timezone.now() + timedelta(minutes=9)
            )
        return Outcome(record=lambda: recorded.append(dispatch.pk))

    handle("example", take_over)
    dispatch = make_dispatch(shop)

    run_due()

    assert recorded == []
    assert reread(shop, dispatch).status == "processing"
    assert reread(shop, dispatch).finished_at is None


def test_two_workers_that_finish_the_same_work_record_it_once(shop, handle):
    recorded = []

    def work(dispatch):
        if not recorded:
            with shop.scope():
                OutboxDispatch.objects.update(locked_until=timezone.now() - timedelta(minutes=1))
            (rival,) = claim_dispatches()
            recorded.append("rival begins")
            run_dispatch(rival)
        return Outcome(record=lambda: recorded.append("done"))

    ran = handle("example", work)
    dispatch = make_dispatch(shop)

    run_due()

    assert len(ran) == 2
    assert recorded == ["rival begins", "done"]
    assert reread(shop, dispatch).status == "succeeded"
    assert reread(shop, dispatch).attempts == 1


def test_run_without_time_left_says_that_there_may_be_more(shop, handle):
    ran = handle("example")
    make_dispatch(shop)

    assert run_due(within=timedelta(seconds=-1)) is False

    assert len(ran) == 1


@pytest.mark.django_db(transaction=True)
def test_four_workers_run_each_dispatch_once(shop, other_shop, handle):
    ran = handle("example")
    made = [make_dispatch(owner).pk for owner in (shop, other_shop) for _ in range(30)]

    run_threads(4, lambda _index: run_due())

    assert sorted(ran) == sorted(made)
    for owner in (shop, other_shop):
        with owner.scope():
            assert set(OutboxDispatch.objects.values_list("status", flat=True)) == {"succeeded"}


def test_run_of_one_dispatch_takes_a_fixed_number_of_statements(shop, handle, django_assert_num_queries):
    handle("example")
    make_dispatch(shop)
    (claim,) = claim_dispatches()

    # Two scopes, opened and closed within the test's transaction: savepoint, setting, ..., setting, release.
    with django_assert_num_queries(10):
        run_dispatch(claim)


@pytest.mark.django_db(transaction=True)
def test_many_dispatches_are_run_by_threads_of_one_process(make_shop, handle, settings):
    settings.OUTBOX_THREADS = 4
    meeting = Barrier(4)
    # Nobody gets through alone.
    ran = handle("example", lambda _: meeting.wait(timeout=10) >= 0 and Outcome())
    shops = [make_shop() for _ in range(4)]
    for shop in shops * 3:
        make_dispatch(shop, task_name="example")

    assert run_due() is True

    assert len(set(ran)) == len(ran) == 12
    for shop in shops:
        with shop.scope():
            assert set(OutboxDispatch.objects.values_list("status", flat=True)) == {"succeeded"}


@pytest.mark.django_db(transaction=True)
def test_threads_begin_nothing_after_their_time_and_end_what_they_have_begun(shop, handle, settings):
    settings.OUTBOX_THREADS = 4
    is_over = Event()
    ran = handle("example", lambda _: is_over.wait(timeout=30) and Outcome())
    for _ in range(3):
        make_dispatch(shop, task_name="example")

    # The caller may do other things meanwhile.
    assert run_due(within=timedelta(0)) is False

    is_over.set()
    finish_running()
    assert len(ran) == 1
    with shop.scope():
        statuses = sorted(OutboxDispatch.objects.values_list("status", flat=True))
    assert statuses == ["pending", "pending", "succeeded"]


@pytest.mark.django_db(transaction=True)
def test_dispatch_that_can_not_be_closed_is_let_go_of_at_once_and_the_others_go_on(shop, other_shop, handle):
    handle("bad", fail)
    ran = handle("good")
    bad = make_dispatch(shop, task_name="bad", due_at=timezone.now() - timedelta(minutes=1))
    good = [make_dispatch(owner, task_name="good").pk for owner in (shop, other_shop)]
    before = failures_of("outbox")

    with poisoned("outbox_dispatches", bad.pk, when="NEW.last_error = 'RuntimeError: no luck'"):
        assert run_due() is True

    assert sorted(ran) == sorted(good)
    left = reread(shop, bad)
    assert (left.status, left.attempts, left.locked_until) == ("pending", 1, None)
    assert left.last_error == "It could not be closed: ProgrammingError"
    assert left.due_at > timezone.now()
    assert failures_of("outbox") == before + 1


@pytest.mark.django_db(transaction=True)
def test_dispatch_that_can_not_be_changed_at_all_leaves_the_others_alone(shop, other_shop, handle):
    ran = handle("example")
    bad = make_dispatch(shop, task_name="example", due_at=timezone.now() - timedelta(minutes=1))
    good = [make_dispatch(owner, task_name="example").pk for owner in (shop, other_shop)]

    with poisoned("outbox_dispatches", bad.pk, when="NEW.status <> 'processing'"):
        assert run_due() is True

    assert sorted(ran) == sorted([bad.pk, *good])
    assert reread(shop, bad).status == "processing"


def test_handler_that_ends_its_thread_gives_its_dispatch_back(shop, handle):
    def leave(_dispatch):
        raise SystemExit

    handle("example", leave)
    dispatch = make_dispatch(shop)

    with pytest.raises(SystemExit):
        run_due()

    left = reread(shop, dispatch)
    assert (left.status, left.attempts, left.last_error) == (
        "pending",
        1,
        "It could not be closed: SystemExit",
    )


@pytest.mark.parametrize("target", [{}, {"task_name": None}, []])
def test_dispatch_of_no_task_is_left_alone(shop, handle, target):
    ran = handle("example")
    odd = make_dispatch(shop, due_at=timezone.now() - timedelta(minutes=1))
    with shop.scope():
        OutboxDispatch.objects.filter(pk=odd.pk).update(target=target)
    good = make_dispatch(shop)

    run_due()

    assert ran == [good.pk]
    assert (reread(shop, odd).status, reread(shop, odd).attempts) == ("pending", 0)


def test_dispatch_of_another_type_is_left_to_newer_workers(shop, handle):
    ran = handle("example")
    other = make_dispatch(shop, dispatch_type="stream")

    run_due()

    assert ran == []
    left = reread(shop, other)
    assert (left.status, left.last_error) == (
        "pending",
        "UnknownTask: No handler for a dispatch of the type 'stream'.",
    )


@pytest.mark.django_db(transaction=True)
def test_account_whose_work_is_quick_gets_more_threads(shop, handle, settings, monkeypatch):
    """Counts as quick here, however slow the machine is."""
    monkeypatch.setattr(crew, "QUICK_S", 1_000)
    settings.OUTBOX_THREADS = 8
    meeting, begun = Barrier(6), count()

    def work(_dispatch):
        # Of those after the first few, none gets through unless six are run at once.
        if next(begun) >= crew.QUICK_RUNS:
            meeting.wait(timeout=30)
        return Outcome()

    ran = handle("example", work)
    for _ in range(crew.QUICK_RUNS + 12):
        make_dispatch(shop, task_name="example")

    assert run_due(within=timedelta(minutes=1)) is True

    assert len(ran) == crew.QUICK_RUNS + 12
    assert meeting.broken is False


@pytest.mark.django_db(transaction=True)
def test_account_whose_work_is_slow_keeps_to_its_share(shop, handle, settings, monkeypatch):
    """Counts as slow here, however fast the machine is."""
    monkeypatch.setattr(crew, "QUICK_S", -1)
    settings.OUTBOX_THREADS = 8
    running, most, lock = set(), [], Lock()

    def work(dispatch):
        with lock:
            running.add(dispatch.pk)
            most.append(len(running))
        time.sleep(0.01)
        with lock:
            running.discard(dispatch.pk)
        return Outcome()

    ran = handle("example", work)
    for _ in range(20):
        make_dispatch(shop, task_name="example")

    assert run_due(within=timedelta(minutes=1)) is True

    assert len(ran) == 20
    assert max(most) <= 3


def test_look_ups_that_hang_in_dispatches_of_a_shop_leave_some_for_others(
    shop, other_shop, handle, monkeypatch
):
    over, found = Event(), []

    def getaddrinfo(host, port, **kwargs):
        if host.endswith("hang.example"):
            over.wait(30)
        return [host]

    def call(dispatch):
        if dispatch.account_id == other_shop.id:
            found.append(look_up("well.example", 443, timeout_s=30))
            return Outcome()
        for name in range(MAX_LOOKUPS):
            with pytest.raises(TimeoutError):
                look_up(f"{name}.hang.example", 443, timeout_s=0)
        return Outcome()

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    ran = handle("example", call)
    first = make_dispatch(shop, task_name="example")
    run_due()
    second = make_dispatch(other_shop, task_name="example")
    run_due()
    over.set()

    assert ran == [first.pk, second.pk]
    assert found == [["well.example"]]
