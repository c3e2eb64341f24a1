"""A message that fails, or whose connection ends, leaves nothing for the next one."""

import os
from contextlib import suppress

import psycopg
import pytest
from django.db import DataError, NotSupportedError, OperationalError, connection
from psycopg import errors, generators

from commerce.database_errors import refusal_from_database
from commerce.errors import Busy
from commerce.tenancy.scope import account_scope
from commerce.tenancy.statements import Prepared, post, send
from tests.tenancy.test_messages import HALF, NAME, RENAME, SETTING

pytestmark = pytest.mark.django_db(transaction=True)

SLEEP = Prepared("SELECT pg_sleep(%s)", reads=True)
LARGE = Prepared("SELECT repeat(%s, 1000000)", reads=True)


def end_own_connection():
    with psycopg.connect(os.environ["TEST_DATABASE_SUPERUSER_URL"]) as superuser:
        superuser.execute("SELECT pg_terminate_backend(%s)", [connection.connection.pgconn.backend_pid])


def test_scope_goes_on_after_a_failed_read(shop):
    with account_scope(shop.id):
        with pytest.raises(DataError):
            send(NAME.call([shop.id]), HALF.call([0]), NAME.call([shop.id]))
        [named] = send(RENAME.call({"account": shop.id, "name": "A"}))

    assert named.rows == [("AA",)]


def test_error_is_that_of_the_part_that_failed(shop):
    with pytest.raises(DataError) as raised, account_scope(shop.id):
        send(RENAME.call({"account": shop.id, "name": "A"}), HALF.call([0]), NAME.call([shop.id]))

    assert isinstance(raised.value.__cause__, errors.DivisionByZero)
    with account_scope(shop.id):
        assert send(NAME.call([shop.id]))[0].rows == [("Germany",)]


def test_large_messages_and_results_are_sent_and_read_at_once(shop):
    with account_scope(shop.id):
        results = send(*[LARGE.call(["x" * number]) for number in range(1, 20)])

    assert [len(result.rows[0][0]) for result in results] == [number * 1_000_000 for number in range(1, 20)]


def test_long_values_and_long_results_do_not_wait_for_each_other():
    echo = Prepared("SELECT %s::text", reads=True)

    results = send(*[echo.call(["x" * 5_000_000])] * 10)

    assert [len(result.rows[0][0]) for result in results] == [5_000_000] * 10


def test_lost_connection_is_told_and_replaced(shop):
    def fail():
        with account_scope(shop.id):
            post(RENAME.call({"account": shop.id, "name": "A"}))
            send(NAME.call([shop.id]))
            end_own_connection()
            send(NAME.call([shop.id]))

    with pytest.raises(OperationalError, match=r"closed the connection|terminating connection"):
        fail()

    with account_scope(shop.id):
        assert send(NAME.call([shop.id]))[0].rows == [("Germany",)]


def test_statement_that_is_cancelled_leaves_the_connection_usable(shop):
    with account_scope(shop.id):
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 50")
        with pytest.raises(OperationalError, match="statement timeout"):
            send(SLEEP.call([60]))
        connection.set_rollback(True)

    with account_scope(shop.id):
        assert send(NAME.call([shop.id]))[0].rows == [("Germany",)]


@pytest.fixture
def colours(shop):
    """A table with one row, `(7,)`, and a superuser's connection to change it, as migrations do while processes serve."""
    target = {"dbname": connection.settings_dict["NAME"], "autocommit": True}
    with psycopg.connect(os.environ["TEST_DATABASE_SUPERUSER_URL"], **target) as superuser:
        superuser.execute("CREATE TABLE colours (hue int); GRANT ALL ON colours TO PUBLIC")
        superuser.execute("INSERT INTO colours VALUES (7)")
        yield superuser
        superuser.execute("DROP TABLE colours")


def make_bigint(superuser):
    superuser.execute("ALTER TABLE colours ALTER hue TYPE bigint")


def deallocate(_superuser):
    with connection.cursor() as cursor:
        # Not those of psycopg, which wouldn't know.
        cursor.execute("SELECT name FROM pg_prepared_statements WHERE name LIKE 'commerce%'")
        for (name,) in cursor.fetchall():
            cursor.execute(f"DEALLOCATE {name}")


HUE = Prepared("SELECT hue FROM colours", reads=True)
DARKEN = Prepared("UPDATE colours SET hue = hue + 1 RETURNING hue")


@pytest.mark.parametrize("change", [make_bigint, deallocate])
def test_statement_that_a_migration_made_stale_is_prepared_again(shop, colours, change):
    def read():
        with account_scope(shop.id):
            return send(HUE.call(), NAME.call([shop.id]))[0].rows

    def write():
        with account_scope(shop.id):
            return send(DARKEN.call())[0].rows

    assert (read(), write()) == ([(7,)], [(8,)])

    change(colours)

    assert (read(), write(), read()) == ([(8,)], [(9,)], [(9,)])


@pytest.mark.parametrize("change", [make_bigint, deallocate])
def test_stale_write_is_sent_again_with_what_was_posted(shop, colours, change):
    def write():
        with account_scope(shop.id):
            post(RENAME.call({"account": shop.id, "name": "A"}))
            hues = send(DARKEN.call())[0].rows
            return hues, send(NAME.call([shop.id]))[0].rows

    assert write() == ([(8,)], [("A",)])

    change(colours)

    assert write() == ([(9,)], [("A",)])
    with account_scope(shop.id):
        assert send(NAME.call([shop.id]))[0].rows == [("A",)]


def test_stale_statement_in_the_middle_of_a_transaction_fails_it_once(shop, colours):
    def write():
        with account_scope(shop.id):
            send(RENAME.call({"account": shop.id, "name": "A"}))
            return send(DARKEN.call())[0].rows

    with account_scope(shop.id):
        send(DARKEN.call())
    make_bigint(colours)

    with pytest.raises(NotSupportedError) as refused:
        write()
    # A client is told to send the request again.
    assert isinstance(refusal_from_database(refused.value), Busy)
    with account_scope(shop.id):
        assert send(NAME.call([shop.id]))[0].rows == [("Germany",)]
    assert write() == [(9,)]


def test_other_unsupported_statements_are_bugs(shop):
    with (
        pytest.raises(NotSupportedError) as refused,
        account_scope(shop.id),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT count(*) FROM markets FOR UPDATE")
    assert refusal_from_database(refused.value) is None


class Interrupted(Exception):
    """Such as a time limit that a signal handler enforces."""


@pytest.fixture
def interrupt(monkeypatch):
    """Run something whose message is interrupted once it has been sent."""

    def send_and_raise(pgconn):
        yield from send_all(pgconn)
        raise Interrupted

    def run(work):
        with monkeypatch.context() as patch:
            patch.setattr(generators, "send", send_and_raise)
            work()

    send_all = generators.send
    return run


def test_results_of_an_interrupted_message_are_not_read_by_the_next_account(shop, other_shop, interrupt):
    def go_on_after_an_interruption():
        with account_scope(shop.id):
            send(SETTING.call())
            with suppress(Interrupted):
                interrupt(lambda: send(SETTING.call()))
            send(SETTING.call())

    with pytest.raises(OperationalError, match="the connection is closed"):
        go_on_after_an_interruption()

    with account_scope(other_shop.id):
        assert send(SETTING.call())[0].rows == [(str(other_shop.id),)]


@pytest.mark.parametrize("by_cursor", [False, True])
def test_handler_of_an_interruption_reads_nothing_of_its_message(shop, interrupt, by_cursor):
    def handle():
        if by_cursor:
            with connection.cursor() as cursor:
                cursor.execute("SELECT %s::text", ["own"])
        else:
            send(NAME.call([shop.id]))

    def fail():
        with account_scope(shop.id):
            send(SETTING.call())
            try:
                interrupt(lambda: send(SETTING.call()))
            except Interrupted:
                # The error keeps what was interrupted alive.
                handle()

    with pytest.raises(OperationalError, match="the connection is closed"):
        fail()
    with account_scope(shop.id):
        assert send(NAME.call([shop.id]))[0].rows == [("Germany",)]
