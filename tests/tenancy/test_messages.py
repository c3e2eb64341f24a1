"""What a scope sends to PostgreSQL, message by message."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC
from threading import local

import pytest
from django.contrib.postgres.signals import register_type_handlers
from django.db import DataError, OperationalError, connection, connections, transaction
from django.db.backends.signals import connection_created
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Market
from commerce.tenancy.postgresql.pool import FailFastPool
from commerce.tenancy.scope import account_scope
from commerce.tenancy.statements import Prepared, send
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)

READ = Prepared("SELECT id FROM markets WHERE account_id = %s", reads=True)
SETTING = Prepared("SELECT current_setting('commerce.account_id', true)", reads=True)
RENAME = Prepared(
    "UPDATE markets SET name = %(name)s WHERE account_id = %(account)s RETURNING name || %(name)s"
)
PLAIN_RENAME = Prepared("UPDATE markets SET name = %s WHERE account_id = %s")
HALF = Prepared("SELECT 100 / %s", reads=True)
NAME = Prepared("SELECT name FROM markets WHERE account_id = %s", reads=True)
EVERY_MARKET = Prepared("SELECT id FROM markets", reads=True)
VALUES = Prepared(
    "SELECT %s::text, %s::bigint, %s::boolean, %s::timestamptz, %s::text[], %s::bytea, %s::uuid", reads=True
)


# Texts may have several lines.
_LINES = re.compile(r"\n(?=[-\d]+ [:.\d]+\t[FB]\t)")
_PARSE = re.compile(r'"(?P<name>[^"]*)" "(?P<sql>.*)" (?P<types>\d+)', re.DOTALL)
_BIND = re.compile(r'"" "(?P<name>[^"]*)" 0 \d+(?P<values>.*) 1 0$', re.DOTALL)
# With its length; -1 is NULL.
_VALUE = re.compile(r" (?:-1|\d+ '(.*?)')(?= )", re.DOTALL)


@contextmanager
def messages() -> Iterator[list[str]]:
    """Collect the messages that the test's connection sends, as the SQL texts that would do the same.

    Those of other statements with parameters are `bound`.
    """
    connection.ensure_connection()
    libpq = connection.connection.pgconn
    sent: list[str] = []
    with tempfile.TemporaryFile("w+") as trace:
        libpq.trace(trace.fileno())
        yield sent
        libpq.untrace()
        trace.seek(0)
        sent += _read_messages(_LINES.split(trace.read()))


def _read_messages(lines):
    parts, parsed = [], None
    for line in lines:
        _, sender, _, kind, *rest = [*line.rstrip("\n").split("\t"), "", "", "", ""]
        text = rest[0].strip()
        if sender != "F":
            continue
        if kind == "Query":
            yield text.strip('"')
        elif kind == "Parse":
            parsed = _PARSE.match(text)
            # psycopg names what it prepares itself otherwise.
            if parsed["name"].startswith("commerce_"):
                parts.append(f"PREPARE name AS {parsed['sql']}")
        elif kind == "Bind":
            found = _BIND.match(text)
            values = [quote(value[1]) for value in _VALUE.finditer(f"{found['values']} ")] if found else []
            # Statements of psycopg have values in binary form, types of parameters, or names of their own.
            if found and found["name"].startswith("commerce_"):
                parts.append(f"EXECUTE name({', '.join(values)})")
            elif not found or found["name"] or parsed["types"] != "0":
                parts.append("bound")
            else:
                parts.append(re.sub(r"\$(\d+)", lambda place: values[int(place[1]) - 1], parsed["sql"]))  # noqa: B023
        elif kind == "Sync" and parts:
            yield "; ".join(parts)
            parts = []


def quote(value):
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"


def rows(sql, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(sql, *parameters)
        return cursor.fetchall()


@pytest.fixture
def setting(shop):
    """The text that binds a transaction to the shop. The test's connection has to prepare its statements."""
    connection.ensure_connection()
    connection.connection.forget_statements()
    return f"SET LOCAL commerce.account_id = '{shop.id}'"


def test_scope_that_does_nothing_sends_nothing(shop, setting):
    with messages() as sent, account_scope(shop.id):
        pass

    assert sent == []


def test_transaction_opens_in_one_message(shop, setting):
    with messages() as sent, account_scope(shop.id):
        rows("SELECT 1")
        rows("SELECT %s::int", [2])

    assert sent == [f"BEGIN; {setting}", "SELECT 1", "bound", "COMMIT"]


def test_transaction_without_a_scope_opens_with_its_first_statement(setting):
    with messages() as sent, transaction.atomic():
        rows("SELECT 1")

    assert sent == ["BEGIN", "SELECT 1", "COMMIT"]


def test_reads_before_anything_else_take_one_message_each(shop, setting):
    with messages() as sent, account_scope(shop.id):
        assert rows(READ, [shop.id]) == rows(READ, [shop.id]) == [(shop.market.id,)]
        assert rows(SETTING) == [(str(shop.id),)]

    first = READ.replace("%s", "$1")
    assert sent == [
        f"PREPARE name AS {first}; BEGIN; {setting}; EXECUTE name('{shop.id}'); COMMIT",
        f"BEGIN; {setting}; EXECUTE name('{shop.id}'); COMMIT",
        f"PREPARE name AS {SETTING}; BEGIN; {setting}; EXECUTE name(); COMMIT",
    ]


def test_write_opens_the_transaction_in_its_own_message(shop, setting):
    with messages() as sent, account_scope(shop.id):
        assert rows(RENAME, {"account": shop.id, "name": "A"}) == [("AA",)]
        # Inside the transaction now, so it sees what was written.
        assert rows(NAME, [shop.id]) == [("A",)]

    update = "UPDATE markets SET name = $1 WHERE account_id = $2 RETURNING name || $1"
    assert sent == [
        f"PREPARE name AS {update}; BEGIN; {setting}; EXECUTE name('A', '{shop.id}')",
        f"PREPARE name AS {NAME.replace('%s', '$1')}; EXECUTE name('{shop.id}')",
        "COMMIT",
    ]


def test_refused_write_is_rolled_back_and_statements_are_prepared_again(shop, setting):
    rename = {"account": shop.id, "name": "B"}
    # psycopg deallocates all statements after a rollback, once it has prepared one of its own.
    with account_scope(shop.id):
        for _ in range(10):
            rows("SELECT %s::int", [1])
        before = rows(NAME, [shop.id])

    def fail():
        with account_scope(shop.id):
            rows(RENAME, rename)
            rows(HALF, [0])

    with pytest.raises(DataError):
        fail()
    with account_scope(shop.id):
        assert rows(NAME, [shop.id]) == before != [("B",)]
        assert rows(HALF, [50]) == [(2,)]
        assert rows(RENAME, rename) == [("BB",)]


def test_read_that_fails_leaves_nothing_behind(shop, setting):
    with account_scope(shop.id):
        with pytest.raises(DataError), connection.cursor() as cursor:
            cursor.execute(HALF, [0])
        assert rows(HALF, [10]) == [(10,)]
        assert rows(SETTING) == [(str(shop.id),)]

    assert rows(SETTING) == [("",)]


def test_reads_of_shops_in_turn_on_one_connection_see_their_own_rows(shop, make_shop, setting):
    other = make_shop()

    for _ in range(3):
        for one in (shop, other):
            with account_scope(one.id):
                assert rows(EVERY_MARKET) == [(one.market.id,)]
    # Without a scope there is nothing to see.
    assert rows(EVERY_MARKET) == []


def test_threads_read_their_own_shops(shop, make_shop):
    shops = [shop, *(make_shop() for _ in range(3))]

    def read(index):
        seen = set()
        for number in range(40):
            one = shops[(index + number) % 4]
            with account_scope(one.id):
                seen.add(rows(EVERY_MARKET) == [(one.market.id,)])
        return seen

    assert run_threads(8, read) == [{True}] * 8


def test_scope_that_could_not_open_leaves_nothing_to_the_next_transaction(shop, setting, monkeypatch):
    def refuse(*arguments, **options):
        raise OperationalError

    connection.close()
    with monkeypatch.context() as patch:
        patch.setattr(FailFastPool, "getconn", refuse)
        with pytest.raises(OperationalError), account_scope(shop.id):
            pass

    with transaction.atomic():
        assert rows(EVERY_MARKET) == []
        # Null if it is another connection of the pool, which had none yet.
        assert rows(SETTING) in ([("",)], [(None,)])


def status_of_a_connection():
    """Of the one that the thread gets from the pool."""
    connection.ensure_connection()
    return connection.connection.info.transaction_status


def test_connection_that_is_closed_inside_a_scope_comes_back_outside_of_it(shop, setting):
    def fail():
        with account_scope(shop.id):
            connection.close()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert rows(EVERY_MARKET) == []
    # Null if it is another connection of the pool, which had none yet.
    assert rows(SETTING) in ([("",)], [(None,)])


def test_rows_are_fetched_in_parts_while_they_are_locked(shop):
    with account_scope(shop.id):
        found = list(Market.objects.select_for_update().iterator(chunk_size=1))

    assert [market.id for market in found] == [shop.market.id]


def test_statements_that_are_sent_together_see_each_others_work(shop, setting):
    with messages() as sent, account_scope(shop.id):
        renamed, named, none = send(
            RENAME.call({"account": shop.id, "name": "D"}), NAME.call([shop.id]), NAME.call([shop.id + 1])
        )

    assert renamed == ([("DD",)], 1)
    assert named == ([("D",)], 1)
    assert none == ([], 0)
    assert [text.count("EXECUTE") for text in sent] == [3, 0]
    assert sent[1] == "COMMIT"


def test_reads_that_are_sent_together_are_a_transaction_of_one_message(shop, setting):
    with account_scope(shop.id):
        send(NAME.call([shop.id]), SETTING.call())
    with messages() as sent, account_scope(shop.id):
        named, bound = send(NAME.call([shop.id]), SETTING.call())

    assert (named.rows, bound.rows) == ([("Germany",)], [(str(shop.id),)])
    assert sent == [f"BEGIN; {setting}; EXECUTE name('{shop.id}'); EXECUTE name(); COMMIT"]


@contextmanager
def unwatched() -> Iterator[None]:
    """As in production: nothing listens to the statements."""
    watchers, connection.execute_wrappers = connection.execute_wrappers, []
    yield
    connection.execute_wrappers = watchers


@pytest.mark.parametrize("listening", [unwatched, lambda: CaptureQueriesContext(connection), nullcontext])
def test_results_are_the_same_whoever_listens_to_the_statements(shop, listening):
    with listening(), account_scope(shop.id):
        results = send(
            RENAME.call({"account": shop.id, "name": "F"}), VALUES.call([None] * 7), NAME.call([shop.id + 1])
        )

    assert results == [([("FF",)], 1), ([(None,) * 7], 1), ([], 0)]


def test_statements_that_return_no_rows_count_what_they_wrote(shop):
    with unwatched(), account_scope(shop.id):
        [written] = send(PLAIN_RENAME.call(["G", shop.id]))

    assert written == ([], 1)


def test_errors_of_statements_are_those_of_django(shop):
    with unwatched(), account_scope(shop.id), pytest.raises(DataError), transaction.atomic():
        send(HALF.call([0]))


def test_nothing_is_sent_in_a_transaction_that_has_to_be_rolled_back(shop):
    def read_anyway():
        with account_scope(shop.id):
            transaction.set_rollback(True)
            send(NAME.call([shop.id]))

    with unwatched(), messages() as sent, pytest.raises(TransactionManagementError):
        read_anyway()
    assert sent == []


def test_each_thread_finds_its_own_connection_in_the_plain_store():
    # Django would ignore it under another name.
    assert isinstance(vars(connections)["_connections"], local)
    assert connections["default"] is connections["default"]
    [other] = run_threads(1, lambda _: connections["default"])
    assert other is not connections["default"]


def test_connections_are_not_asked_for_types_of_extensions():
    # Disconnecting tells whether the function was still connected.
    assert not connection_created.disconnect(register_type_handlers)


def test_failure_of_one_undoes_all_that_are_sent_with_it(shop, setting):
    with account_scope(shop.id), pytest.raises(DataError):
        send(RENAME.call({"account": shop.id, "name": "E"}), HALF.call([0]))

    with account_scope(shop.id):
        assert rows(NAME, [shop.id]) == [("Germany",)]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    st.integers(-(2**63), 2**63 - 1),
    st.none() | st.booleans(),
    st.datetimes(timezones=st.just(UTC)),
    st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=3),
    st.binary(max_size=20),
    st.uuids(),
)
def test_values_arrive_as_they_were_sent(text, number, truth, time, texts, data, uuid):
    values = [text, number, truth, time, texts, data, uuid]

    assert rows(VALUES, values) == [tuple(values)]
    [sent] = send(VALUES.call(values))
    assert sent.rows == [tuple(values)]
    assert sent.rows[0][3].tzinfo is rows(VALUES, values)[0][3].tzinfo


def test_statement_knows_its_parameters():
    statement = Prepared("SELECT %(b)s, %(a)s, %(b)s, 5 %% 3")

    assert (statement.sql, statement.names) == (b"SELECT $1, $2, $1, 5 % 3", ["b", "a"])
    assert statement.call({"a": 1, "b": 2}).values == [2, 1]
    assert Prepared("SELECT %s, %s").sql == b"SELECT $1, $2"
