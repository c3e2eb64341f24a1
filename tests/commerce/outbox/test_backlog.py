"""The outbox backlog of all accounts, for operators."""

from datetime import timedelta

from django.utils import timezone

from commerce.outbox import queries
from commerce.outbox.queries import Backlog, count_backlog
from tests.factories import make_dispatch
from tests.plans import plan_of

NOW = timezone.now()


def test_backlog_of_an_empty_outbox(db):
    assert count_backlog() == Backlog(pending=0, processing=0, dead=0, oldest_due_at=None)


def test_backlog_counts_what_has_not_ended_well_in_every_account(shop, other_shop):
    make_dispatch(shop, due_at=NOW - timedelta(minutes=1))
    make_dispatch(other_shop, due_at=NOW - timedelta(minutes=2))
    make_dispatch(other_shop, status="processing", locked_until=NOW + timedelta(minutes=5))
    make_dispatch(shop, status="dead", due_at=NOW - timedelta(days=1), finished_at=NOW)
    for status in ("succeeded", "skipped", "cancelled"):
        make_dispatch(shop, status=status, due_at=NOW - timedelta(days=1), finished_at=NOW)

    assert count_backlog() == Backlog(
        pending=2, processing=1, dead=1, oldest_due_at=NOW - timedelta(minutes=2)
    )


def test_backlog_is_as_old_as_a_lease_that_has_run_out(shop):
    make_dispatch(shop, due_at=NOW - timedelta(minutes=1))
    make_dispatch(shop, status="processing", locked_until=NOW - timedelta(minutes=9))

    assert count_backlog().oldest_due_at == NOW - timedelta(minutes=9)


def test_backlog_stops_counting_in_time(shop, monkeypatch):
    monkeypatch.setattr(queries, "COUNTED_AT_MOST", 2)
    for _ in range(3):
        make_dispatch(shop)
        make_dispatch(shop, status="dead", finished_at=NOW)

    assert (count_backlog().pending, count_backlog().dead) == (2, 2)


def test_backlog_is_one_statement(shop, django_assert_num_queries):
    make_dispatch(shop)

    with django_assert_num_queries(1):
        count_backlog()
    assert "Function Scan on outbox_backlog" in plan_of(count_backlog)
