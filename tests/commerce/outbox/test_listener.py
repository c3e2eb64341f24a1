import threading
import time

import psycopg
import pytest
from django.db import connection, connections
from django.utils import timezone

from commerce.outbox.listener import Listener
from commerce.outbox.operations import enqueue
from tests.factories import make_dispatch

pytestmark = pytest.mark.django_db(transaction=True)


class Wakes:
    """Counts wake-ups, and waits for the next one."""

    def __init__(self):
        self.count = 0
        self._changed = threading.Condition()

    def __call__(self):
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def wait_for(self, count, timeout_s=10):
        with self._changed:
            return self._changed.wait_for(lambda: self.count >= count, timeout_s)


@pytest.fixture
def wakes():
    return Wakes()


@pytest.fixture
def listener(wakes):
    listener = Listener(wakes)
    listener.start()
    assert wakes.wait_for(1)
    yield listener
    listener.stop()
    assert not listener.is_alive()


def test_listener_wakes_as_soon_as_it_listens(listener, wakes):
    assert wakes.count == 1


def test_listener_wakes_when_a_dispatch_is_committed(listener, wakes, shop):
    make_dispatch(shop)

    assert wakes.wait_for(2)


def test_listener_does_not_wake_before_the_commit(listener, wakes, shop):
    with shop.scope():
        enqueue(task_name="example", payload={}, idempotency_key="a", now=timezone.now())
        assert not wakes.wait_for(2, timeout_s=0.5)

    assert wakes.wait_for(2)


def test_listener_wakes_once_for_a_burst(listener, wakes, shop):
    with shop.scope():
        for number in range(20):
            enqueue(task_name="example", payload={}, idempotency_key=f"a:{number}", now=timezone.now())

    assert wakes.wait_for(2)
    time.sleep(0.3)
    assert wakes.count == 2


def test_listener_comes_back_after_its_connection_was_killed(listener, wakes, shop):
    kill = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN outbox_new' "
        "AND datname = current_database()"
    )
    with psycopg.connect(**connection.make_connection_params()) as direct:
        assert direct.execute(kill).fetchall() == [(True,)]

    # It wakes up after reconnecting, because something may have been committed meanwhile.
    assert wakes.wait_for(2)
    make_dispatch(shop)
    assert wakes.wait_for(3)


def test_listener_stops_while_the_database_cannot_be_reached(wakes, monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "PORT", 9)
    unreachable = Listener(wakes)
    # As after many failures, when it waits half a minute before the next attempt.
    unreachable._failures = 5
    unreachable.start()
    until = time.monotonic() + 10
    while unreachable._failures == 5 and time.monotonic() < until:
        time.sleep(0.05)

    unreachable.stop()

    assert not unreachable.is_alive()
    assert unreachable._failures == 6
    assert wakes.count == 0
