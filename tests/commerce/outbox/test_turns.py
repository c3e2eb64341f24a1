"""Accounts take turns, and none gets more than its share of a worker."""

import os
from collections import Counter
from datetime import timedelta

import psycopg
import pytest
from django.db import connection, transaction
from django.utils import timezone

from commerce.outbox.claims import Claim, Limits, claim_dispatches
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests.factories import make_dispatch
from tests.metrics import failures_of
from tests.poison import poisoned

NOW = timezone.now()
HOUR = timedelta(hours=1)


def fill(shop, number, *, since=HOUR, task_name="send_email", due_in=timedelta(0)):
    with shop.scope():
        OutboxDispatch.objects.bulk_create(
            OutboxDispatch(
                target={"task_name": task_name},
                idempotency_key=f"{task_name}/{index}/{since}/{due_in}",
                due_at=NOW - since + due_in,
            )
            for index in range(number)
        )


def running(shop, task_name="send_email"):
    return Claim(shop.id, 0, NOW, task_name)


def accounts(claims):
    return Counter(claim.account_id for claim in claims)


@pytest.mark.parametrize("backlog", [20, 150])
def test_accounts_take_turns_however_long_one_has_waited(make_shop, backlog):
    """With few due dispatches, and with many, which takes another query."""
    busy, *others = [make_shop() for _ in range(4)]
    fill(busy, backlog)
    for shop in others:
        fill(shop, 1, since=timedelta(seconds=1))

    claims = claim_dispatches(batch=4)

    assert accounts(claims) == Counter(shop.id for shop in (busy, *others))


@pytest.mark.parametrize("backlog", [20, 150])
def test_each_task_of_an_account_has_its_turn(shop, backlog):
    fill(shop, backlog, task_name="deliver_webhook")
    fill(shop, 1, task_name="send_email", since=timedelta(seconds=1))

    claims = claim_dispatches(batch=2)

    assert sorted(claim.task_name for claim in claims) == ["deliver_webhook", "send_email"]


@pytest.mark.parametrize("backlog", [20, 150])
def test_turns_go_on_behind_the_queue_that_was_served_last(make_shop, backlog):
    shops = [make_shop() for _ in range(3)]
    for shop in shops:
        fill(shop, backlog)
    served, after = [], (0, "")

    for _ in range(6):
        claims = claim_dispatches(batch=1, after=after)
        after = claims.after
        served += [claim.account_id for claim in claims]

    assert served == [shop.id for shop in shops] * 2


def test_oldest_of_a_queue_is_first(shop):
    fill(shop, 150)
    oldest = make_dispatch(shop, task_name="send_email", due_at=NOW - 2 * HOUR)

    assert [claim.dispatch_id for claim in claim_dispatches(batch=1)] == [oldest.pk]


@pytest.mark.parametrize("backlog", [20, 150])
def test_account_gets_no_more_than_its_share(shop, other_shop, backlog):
    fill(shop, backlog)
    fill(other_shop, 5, since=timedelta(seconds=1))

    claims = claim_dispatches(batch=8, limits=Limits(busy=[running(shop)], share=3, lost_room=1))

    assert accounts(claims) == {shop.id: 2, other_shop.id: 3}


@pytest.mark.parametrize("backlog", [20, 150])
def test_task_of_an_account_leaves_room_for_its_others(shop, backlog):
    fill(shop, backlog, task_name="deliver_webhook")
    fill(shop, 5, since=timedelta(seconds=1))

    limits = Limits(busy=[running(shop, "deliver_webhook")], share=4, task_share=3)
    claims = claim_dispatches(batch=8, limits=limits)

    assert Counter(claim.task_name for claim in claims) in (
        {"deliver_webhook": 2, "send_email": 1},
        {"deliver_webhook": 1, "send_email": 2},
    )
    both = [*claims, running(shop, "deliver_webhook")]
    assert claim_dispatches(batch=8, limits=Limits(busy=both, share=4, task_share=3)) == []


@pytest.mark.parametrize("backlog", [20, 150])
def test_task_gets_no_more_than_its_room(make_shop, backlog):
    shops = [make_shop() for _ in range(3)]
    for shop in shops:
        fill(shop, backlog, task_name="deliver_webhook")
    fill(shops[0], 2, task_name="send_email", since=timedelta(seconds=1))

    limits = Limits(share=8, rooms={"deliver_webhook": 2, "send_email": 8})
    claims = claim_dispatches(batch=8, limits=limits)

    assert Counter(claim.task_name for claim in claims) == {"deliver_webhook": 2, "send_email": 2}


def test_queue_behind_many_that_are_not_due_has_its_turn(make_shop):
    """More of them than one look covers: the next look continues where the first ended."""
    first, *waiting, last = [make_shop() for _ in range(12)]
    for shop in waiting:
        for number in range(20):
            fill(shop, 1, task_name=f"task-{number}", due_in=2 * HOUR)
    fill(first, 150)
    fill(last, 1, since=timedelta(seconds=1))
    after, served = (first.id, "send_email"), []

    for _ in range(5):
        claims = claim_dispatches(batch=1, after=after, limits=Limits(busy=[running(first)], share=1))
        after = claims.after
        served += [claim.account_id for claim in claims]

    assert served == [last.id]


@pytest.mark.django_db(transaction=True)
def test_claim_reads_no_more_rows_of_a_longer_queue(shop):
    """The next dispatch of a queue is found by an index, not by sorting all that wait."""
    read = []
    for more in (150, 1000):
        fill(shop, more, since=HOUR - timedelta(seconds=more))
        # Without statistics, the planner takes an index of all of an account's rows for as good.
        with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
            owner.execute("ANALYZE outbox_dispatches")
        with transaction.atomic():
            before = count_rows_read()
            assert len(claim_dispatches(batch=1)) == 1
            read.append(count_rows_read() - before)

    assert read[0] == read[1] < 50


def count_rows_read():
    """The rows of dispatches that the open transaction has read."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'outbox_dispatches'"
        )
        return cursor.fetchone()[0]


def test_one_lost_dispatch_is_taken_at_a_time(shop):
    """What has killed one worker may kill the next, with everything that runs in it."""
    gone = timezone.now() - timedelta(minutes=1)
    lost = {make_dispatch(shop, status="processing", locked_until=gone).pk for _ in range(3)}
    fresh = make_dispatch(shop)

    claims = claim_dispatches(limits=Limits(share=8, lost_room=1))
    none = claim_dispatches(limits=Limits(share=8, lost_room=0))

    assert [claim.was_lost for claim in claims] == [True, False]
    assert claims[0].dispatch_id in lost
    assert (claims[1].dispatch_id, none) == (fresh.pk, [])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("status", ["pending", "processing"])
def test_row_that_can_not_be_claimed_does_not_keep_others_waiting(shop, other_shop, handle, status):
    ran = handle("example")
    lapsed = {"locked_until": NOW - HOUR} if status == "processing" else {}
    poison = make_dispatch(shop, task_name="example", status=status, due_at=NOW - HOUR, **lapsed)
    good = [make_dispatch(owner, task_name="example").pk for owner in (shop, other_shop)]
    before = failures_of("outbox_claims")

    with poisoned("outbox_dispatches", poison.pk):
        run_due()

        assert sorted(ran) == sorted(good)
        assert failures_of("outbox_claims") > before
    run_due()
    assert poison.pk in ran
