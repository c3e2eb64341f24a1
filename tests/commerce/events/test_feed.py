"""Clients follow the feed by the id of the last event read, so no event may appear below it later."""

import threading
from datetime import UTC, datetime

import pytest
from django.db import connection, transaction

from commerce.events.models import Event
from commerce.events.operations import publish, publish_many
from commerce.events.queries import gapless_events
from tests.threads import run_threads

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def publish_in(shop, number):
    with shop.scope():
        return publish_number(number).pk


def publish_number(number):
    publish(type="order.paid", data={"number": number}, now=NOW)
    with connection.cursor() as cursor:
        # Others may publish at the same time.
        cursor.execute("SELECT currval(pg_get_serial_sequence('events', 'id'))")
        return Event.objects.get(pk=cursor.fetchone()[0])


def read(shop, after=0):
    with shop.scope():
        return [event.pk for event in gapless_events().filter(pk__gt=after).order_by("pk")]


def publish_pairs(shop, publishing, index):
    for number in range(60):
        with shop.scope():
            publish_number(number)
            publish_number(number)
    publishing.remove(index)


def follow(shop, publishing):
    """Return what a client reads that always continues after the last id, until nobody publishes any more."""
    seen, position, is_last = [], 0, False
    while not is_last:
        is_last = not publishing
        page = read(shop, after=position)
        seen += page
        position = page[-1] if page else position
    return seen


class Publisher(threading.Thread):
    """A transaction that has published and stays open until `finish`."""

    def __init__(self, shop):
        super().__init__()
        self.shop = shop
        self.event_id = None
        self._published, self._may_end = threading.Event(), threading.Event()
        self._commits = True

    def run(self):
        with self.shop.scope():
            self.event_id = publish_number(0).pk
            self._published.set()
            self._may_end.wait(10)
            transaction.set_rollback(not self._commits)
        connection.close()

    def __enter__(self):
        self.start()
        assert self._published.wait(10)
        return self

    def __exit__(self, *_exc):
        self.finish()

    def finish(self, *, commits=True):
        self._commits = commits
        self._may_end.set()
        self.join()


def test_publish_is_one_statement(shop, django_assert_num_queries):
    with shop.scope(), django_assert_num_queries(1):
        publish(type="order.paid", data={"order_id": "7"}, now=NOW)

    with shop.scope():
        stored = Event.objects.get()
    assert stored.type == "order.paid"
    assert stored.data == {"order_id": "7"}
    assert stored.occurred_at == NOW


def test_publish_many_is_one_statement_in_the_order_given(shop, django_assert_num_queries):
    occurrences = [(f"voucher.{name}", {}) for name in ("redeemed", "depleted", "expired")]

    with shop.scope(), django_assert_num_queries(1):
        publish_many(occurrences=occurrences, now=NOW)

    with shop.scope():
        types = [event.type for event in Event.objects.order_by("pk")]
    assert types == ["voucher.redeemed", "voucher.depleted", "voucher.expired"]


def test_transaction_sees_its_own_events(shop):
    with shop.scope():
        event = publish_number(1)

        assert [row.pk for row in gapless_events()] == [event.pk]


@pytest.mark.django_db(transaction=True)
def test_events_wait_for_an_open_transaction_that_published_before_them(shop):
    first = publish_in(shop, 1)
    with Publisher(shop) as publisher:
        later = publish_in(shop, 2)
        assert publisher.event_id < later

        assert read(shop) == [first]

        publisher.finish()
    assert read(shop) == [first, publisher.event_id, later]


@pytest.mark.django_db(transaction=True)
def test_events_wait_for_an_open_transaction_of_another_account_too(shop, other_shop):
    with Publisher(other_shop):
        later = publish_in(shop, 2)

        assert read(shop) == []

    assert read(shop) == [later]


@pytest.mark.django_db(transaction=True)
def test_events_no_longer_wait_for_a_transaction_that_was_rolled_back(shop):
    with Publisher(shop) as publisher:
        later = publish_in(shop, 2)
        publisher.finish(commits=False)

    assert read(shop) == [later]


@pytest.mark.django_db(transaction=True)
def test_events_wait_for_one_whose_first_event_was_rolled_back_alone(shop):
    """Rolling back to a savepoint releases the locks of its events. The next event takes a lock again."""
    with shop.scope():
        savepoint = transaction.savepoint()
        publish_number(1)
        transaction.savepoint_rollback(savepoint)
        kept = publish_number(2).pk

        held = run_threads(1, lambda _: [publish_in(shop, 3), read(shop)])[0]

    assert held[1] == []
    assert read(shop) == [kept, held[0]]


@pytest.mark.django_db(transaction=True)
def test_many_events_of_one_transaction_hold_one_lock(shop):
    with shop.scope():
        publish_many(occurrences=[("order.paid", {"number": number}) for number in range(500)], now=NOW)
        publish_number(500)

        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
            )
            assert cursor.fetchone() == (1,)


@pytest.mark.django_db(transaction=True)
def test_followers_miss_nothing_while_others_publish(shop):
    publishing = [1, 2, 3]

    def work(index):
        return follow(shop, publishing) if index == 0 else publish_pairs(shop, publishing, index)

    seen = run_threads(4, work)[0]

    assert len(seen) == 360
    assert seen == sorted(seen)
