from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from commerce.loops import tasks
from commerce.loops.models import PostponedRow
from commerce.loops.operations import continue_after_failure, forget_postponed, handle_rows, postpone
from config.celery import app
from tests.metrics import failures_of


def rows(shop):
    with shop.scope():
        return list(PostponedRow.objects.order_by("row_id"))


def fail_for(*bad):
    def work(ids):
        if set(ids) & set(bad):
            raise ValueError("about a person")
        return list(ids)

    return work


def test_loop_goes_on_past_what_fails_and_counts_it(caplog):
    before = failures_of("example")

    for number in range(3):
        with continue_after_failure("example", row=number):
            assert number != 1

    assert failures_of("example") == before + 1
    assert [record.getMessage() for record in caplog.records] == ["example goes on without row 1"]


def test_loop_ends_where_the_server_is_away(shop):
    before = failures_of("example")

    with pytest.raises(OperationalError), continue_after_failure("example", row=1):
        raise OperationalError("the connection is closed")
    with pytest.raises(OperationalError):
        handle_rows("example", account_id=shop.id, row_ids=[1, 2], work=lambda _: _lose_connection())

    assert (failures_of("example"), rows(shop)) == (before, [])


def _lose_connection():
    raise OperationalError("the connection is closed")


@pytest.mark.django_db(transaction=True)
def test_loop_goes_on_past_a_statement_that_took_too_long(shop):
    def take_too_long(_ids):
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 1")
            cursor.execute("SELECT pg_sleep(10)")

    assert handle_rows("example", account_id=shop.id, row_ids=[1], work=take_too_long) == []

    assert [row.last_error for row in rows(shop)] == ["OperationalError"]


@pytest.mark.parametrize("bad", [[], [1], [4], [2, 3], [1, 2, 3, 4, 5]])
def test_rows_that_fail_are_found_and_all_others_are_handled(shop, bad):
    handled = handle_rows("example", account_id=shop.id, row_ids=[1, 2, 3, 4, 5], work=fail_for(*bad))

    assert [row_id for ids in handled for row_id in ids] == [n for n in (1, 2, 3, 4, 5) if n not in bad]
    assert [(row.row_id, row.failures, row.last_error) for row in rows(shop)] == [
        (number, 1, "ValueError") for number in bad
    ]


def test_row_that_fails_again_waits_twice_as_long_up_to_six_hours(shop):
    waits = []
    for _ in range(11):
        before = timezone.now()
        postpone("example", account_id=shop.id, row_id=7, error=ValueError())
        waits.append(round((rows(shop)[0].retry_at - before).total_seconds() / 60))

    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]


def test_row_that_was_handled_starts_over(shop, other_shop):
    for owner in (shop, other_shop):
        for number in (1, 2):
            postpone("example", account_id=owner.id, row_id=number, error=ValueError())
    postpone("another", account_id=shop.id, row_id=1, error=ValueError())

    with shop.scope():
        forget_postponed("example", [1])

    assert [(row.loop, row.row_id) for row in rows(shop)] == [("another", 1), ("example", 2)]
    assert len(rows(other_shop)) == 2


def test_prune_forgets_what_has_not_failed_for_a_week(shop):
    for number, days in ((1, 8), (2, 6)):
        postpone("example", account_id=shop.id, row_id=number, error=ValueError())
        with shop.scope():
            retry_at = timezone.now() - timedelta(days=days)
            PostponedRow.objects.filter(row_id=number).update(retry_at=retry_at)

    tasks.prune()

    assert [row.row_id for row in rows(shop)] == [2]
    assert app.conf.beat_schedule["prune-postponed-rows"]["task"] == tasks.prune.name
