"""Several workers, and several threads of one worker, share the dispatches."""

import socket
import time
from datetime import timedelta
from itertools import count
from threading import Barrier, Event, Lock

import pytest
from django.utils import timezone

from commerce.outbox import crew
from commerce.outbox.errors import Postponed
from commerce.outbox.handlers import Outcome
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import finish_running, run_due
from commerce.outside.lookups import MAX_LOOKUPS, look_up
from tests.factories import make_dispatch
from tests.threads import run_threads


@pytest.mark.django_db(transaction=True)
def test_four_workers_run_each_dispatch_once(shop, other_shop, handle):
    ran = handle("example")
    made = [make_dispatch(owner).pk for owner in (shop, other_shop) for _ in range(30)]

    run_threads(4, lambda _index: run_due())

    assert sorted(ran) == sorted(made)
    for owner in (shop, other_shop):
        with owner.scope():
            assert set(OutboxDispatch.objects.values_list("status", flat=True)) == {"succeeded"}


@pytest.mark.django_db(transaction=True)
def test_many_dispatches_are_run_by_threads_of_one_process(make_shop, handle, settings):
    settings.OUTBOX_THREADS = 4
    meeting = Barrier(4)
    # Nobody gets through alone.
    ran = handle("example", lambda _: meeting.wait(timeout=60) >= 0 and Outcome())
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
def test_work_held_back_by_runs_that_end_during_a_look_is_run(shop, handle, settings, monkeypatch):
    settings.OUTBOX_THREADS = 8
    has_looked = Event()
    ran = handle("example", lambda _: has_looked.wait(30) and Outcome())
    # One more than an account's share of a task.
    for _ in range(4):
        make_dispatch(shop, task_name="example")
    claim = crew.claim_dispatches

    def claim_slowly(**options):
        claims = claim(**options)
        if not claims:
            has_looked.set()
            time.sleep(0.5)
        return claims

    monkeypatch.setattr(crew, "claim_dispatches", claim_slowly)

    assert run_due() is True

    assert len(ran) == 4


@pytest.mark.django_db(transaction=True)
def test_account_whose_work_is_quick_gets_more_threads(shop, handle, settings, monkeypatch):
    """All work counts as quick here, however slow the machine is."""
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
def test_account_whose_work_is_postponed_keeps_to_its_share(shop, handle, settings, monkeypatch):
    """All work counts as quick here, however slow the machine is."""
    monkeypatch.setattr(crew, "QUICK_S", 1_000)
    settings.OUTBOX_THREADS = 8
    running, most, lock = set(), [], Lock()

    def work(dispatch):
        with lock:
            running.add(dispatch.pk)
            most.append(len(running))
        time.sleep(0.01)
        with lock:
            running.discard(dispatch.pk)
        raise Postponed("Not yet.", until=timezone.now() + timedelta(hours=1))

    ran = handle("example", work)
    for _ in range(20):
        make_dispatch(shop, task_name="example")

    assert run_due(within=timedelta(minutes=1)) is True

    assert len(ran) == 20
    assert max(most) <= 3


@pytest.mark.django_db(transaction=True)
def test_account_whose_work_is_slow_keeps_to_its_share(shop, handle, settings, monkeypatch):
    """All work counts as slow here, however fast the machine is."""
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

    resolve = socket.getaddrinfo

    def getaddrinfo(host, *args, **kwargs):
        if host.endswith("hang.example"):
            over.wait(30)
        # The pool of database connections asks as well.
        return [host] if host.endswith(".example") else resolve(host, *args, **kwargs)

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
