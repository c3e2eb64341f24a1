"""What a run does with its dispatches: success, failure, retries, and what must never stop the others."""

import logging
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from commerce.customers.models import Customer
from commerce.outbox.claims import claim_dispatches
from commerce.outbox.errors import PermanentFailure, Postponed
from commerce.outbox.handlers import Outcome
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.runs import run_claims
from commerce.outbox.worker import run_due
from commerce.tenancy.scope import account_in_scope
from tests.commerce.outbox.rows import make_due, reread
from tests.factories import make_customer, make_dispatch
from tests.metrics import failures_of
from tests.poison import poisoned


def fail(_dispatch):
    raise RuntimeError("no luck")


def refuse(_dispatch):
    raise PermanentFailure("never")


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
            run_claims([rival])
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


def test_run_of_one_dispatch_takes_a_fixed_number_of_statements(shop, handle, django_assert_num_queries):
    handle("example")
    make_dispatch(shop)
    (claim,) = claim_dispatches()

    # Two scopes, opened and closed within the test's transaction: savepoint, setting, ..., setting, release.
    with django_assert_num_queries(10):
        run_claims([claim])


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
