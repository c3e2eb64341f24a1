"""An unavailable database is reported at once, and used again soon after it is back."""

import socket
import threading
import time
from contextlib import closing, contextmanager

import pytest
from django.conf import settings
from psycopg_pool import PoolTimeout

from commerce.tenancy.postgresql import pool as module
from commerce.tenancy.postgresql.pool import FailFastPool, Unreachable
from tests.servers import closed_port

# Far longer than any test, so that waiting for it would be noticed.
FOR_EVER_S = 600


@contextmanager
def pool_at(port, **options):
    database = settings.DATABASES["default"]
    keywords = {
        "host": "127.0.0.1",
        "port": port,
        "user": database["USER"],
        "password": database["PASSWORD"],
        "dbname": database["NAME"],
    }
    pool = FailFastPool(
        kwargs=keywords, open=False, min_size=1, **({"timeout": FOR_EVER_S, "max_size": 4} | options)
    )
    pool.open()
    with closing(pool):
        yield pool


@contextmanager
def counting_server():
    """Start a server that closes every connection; yield its port and a list with an entry per connection."""
    callers = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                callers.append(1)
                connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], callers
        server.shutdown(socket.SHUT_RDWR)


@contextmanager
def forwarded(port):
    """Forward the port to the suite's server."""
    database = settings.DATABASES["default"]
    target = (database["HOST"], int(database["PORT"]))

    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        finally:
            sink.close()

    def serve():
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            upstream = socket.create_connection(target)
            for pair in ((client, upstream), (upstream, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    with socket.create_server(("127.0.0.1", port)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield
        server.shutdown(socket.SHUT_RDWR)


def refused(pool):
    with pytest.raises(Unreachable):
        pool.getconn()


def test_nobody_waits_for_a_database_that_refuses():
    began = time.monotonic()
    with pool_at(closed_port()) as pool:
        threads = [threading.Thread(target=refused, args=(pool,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert time.monotonic() - began < FOR_EVER_S / 2


def test_server_that_has_just_refused_is_left_alone(monkeypatch):
    monkeypatch.setattr(module, "REST_S", FOR_EVER_S)
    with counting_server() as (port, callers), pool_at(port) as pool:
        refused(pool)
        # The attempt made when the pool opened may still be running.
        _wait_until_quiet(callers)
        before = len(callers)

        for _ in range(100):
            refused(pool)

        assert len(callers) == before


def test_one_request_at_a_time_tries_again(monkeypatch):
    with counting_server() as (port, _), pool_at(port) as pool:
        refused(pool)
        monkeypatch.setattr(module, "REST_S", 0)

        with pool._is_trying:
            refused(pool)


def test_database_that_is_back_is_used_at_the_next_try(monkeypatch):
    monkeypatch.setattr(module, "REST_S", 0)
    port = closed_port()
    with pool_at(port) as pool:
        for _ in range(5):
            refused(pool)

        with forwarded(port):
            connection = pool.getconn()
            assert connection.execute("SELECT current_user").fetchone() == ("commerce_app",)
            pool.putconn(connection)


def test_connections_that_died_with_the_server_are_not_handed_out(monkeypatch):
    monkeypatch.setattr(module, "CHECK_INTERVAL_S", 0)
    monkeypatch.setattr(module, "REST_S", 0)
    port = closed_port()
    # No more than the test ends below.
    with pool_at(port, max_size=3) as pool:
        with forwarded(port):
            connections = [pool.getconn() for _ in range(3)]
            for connection in connections:
                pool.putconn(connection)
        for connection in connections:
            connection.pgconn.finish()

        refused(pool)

        with forwarded(port):
            connection = pool.getconn()
            assert connection.execute("SELECT 1").fetchone() == (1,)
            pool.putconn(connection)


def test_full_pool_has_them_wait_for_their_turn():
    database = settings.DATABASES["default"]
    with pool_at(int(database["PORT"]), timeout=0.2) as pool:
        taken = [pool.getconn(timeout=FOR_EVER_S) for _ in range(4)]

        with pytest.raises(PoolTimeout):
            pool.getconn()

        pool.putconn(taken.pop())
        taken.append(pool.getconn(timeout=FOR_EVER_S))
        for connection in taken:
            pool.putconn(connection)


def _wait_until_quiet(callers):
    seen = -1
    while seen != len(callers):
        seen = len(callers)
        time.sleep(0.3)
