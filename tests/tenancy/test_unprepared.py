"""Behind a pooler in transaction mode nothing is prepared: statements are sent with their values, in as many messages."""

from datetime import UTC

import pytest
from django.db import DataError, connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commerce.tenancy.scope import account_scope
from commerce.tenancy.statements import Prepared, post, send
from tests.tenancy.test_messages import EVERY_MARKET, HALF, NAME, PLAIN_RENAME, RENAME, VALUES, messages, rows

pytestmark = pytest.mark.django_db(transaction=True)

# PostgreSQL infers the types of the values from these columns, as it does for parameters.
COMPARED = Prepared(
    "SELECT count(*) FROM markets WHERE id < %s AND created_at < %s AND name <> ALL(%s)", reads=True
)
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@pytest.fixture(autouse=True)
def _unprepared():
    """As with DATABASE_BEHIND_POOLER, for the test's own connection."""
    connection.ensure_connection()
    mine = connection.connection
    mine.forget_statements()
    before, mine.prepare_threshold = mine.prepare_threshold, None
    yield
    mine.prepare_threshold = before


@pytest.fixture
def setting(shop):
    return f"SET LOCAL commerce.account_id = '{shop.id}'"


NAMED = "SELECT name FROM markets WHERE account_id ="
RENAMED = "UPDATE markets SET name = 'O''A' WHERE account_id ="


def test_statements_are_sent_with_their_values(shop, setting):
    with messages() as sent, account_scope(shop.id):
        assert rows(NAME, [shop.id]) == [("Germany",)]
        assert rows(RENAME, {"account": shop.id, "name": "O'A"}) == [("O'AO'A",)]
        send(PLAIN_RENAME.call([None, shop.id + 1]), NAME.call([shop.id]))

    assert sent == [
        f"BEGIN; {setting}; {NAMED} '{shop.id}'; COMMIT",
        f"BEGIN; {setting}; {RENAMED} '{shop.id}' RETURNING name || 'O''A'",
        f"UPDATE markets SET name = NULL WHERE account_id = '{shop.id + 1}'; {NAMED} '{shop.id}'",
        "COMMIT",
    ]


def test_posted_statement_is_sent_with_the_end_of_the_transaction(shop, setting):
    with messages() as sent, account_scope(shop.id):
        post(PLAIN_RENAME.call(["B", shop.id]))

    assert sent == [f"BEGIN; {setting}; UPDATE markets SET name = 'B' WHERE account_id = '{shop.id}'; COMMIT"]


def test_statements_of_the_orm_are_never_prepared(shop):
    with account_scope(shop.id):
        for number in range(10):
            rows("SELECT %s::int", [number])

    with account_scope(shop.id):
        assert rows("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%::int'", []) == [
            (0,)
        ]


@pytest.mark.parametrize("text", ["x'); DROP TABLE markets; --", "\\'; SELECT 1; --"])
def test_values_stay_values(shop, text):
    with account_scope(shop.id):
        assert rows(RENAME, {"account": shop.id, "name": text}) == [(text * 2,)]
        assert rows(NAME, [shop.id]) == [(text,)]


def test_shops_in_turn_on_one_connection_see_their_own_rows(shop, make_shop):
    other = make_shop()

    for _ in range(3):
        for one in (shop, other):
            with account_scope(one.id):
                assert rows(EVERY_MARKET) == [(one.market.id,)]
    assert rows(EVERY_MARKET) == []


def test_values_are_compared_in_the_types_of_their_columns(shop):
    now = shop.market.created_at

    with account_scope(shop.id):
        assert rows(COMPARED, [2**62, now.replace(year=9000), []]) == [(1,)]
        assert rows(COMPARED, [-(2**62), now, ["Germany"]]) == [(0,)]
        with pytest.raises(DataError, match="out of range for type bigint"):
            rows(COMPARED, [2**63, now, []])


def test_wrong_number_of_values_is_refused_before_anything_is_sent(shop):
    with messages() as sent, account_scope(shop.id), pytest.raises(ValueError, match="1 parameters, not 2"):
        send(HALF.call([1, 2]))

    assert sent == []


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    TEXT,
    st.integers(-(2**63), 2**63 - 1),
    st.none() | st.booleans(),
    st.datetimes(timezones=st.just(UTC)),
    st.lists(TEXT, max_size=3),
    st.binary(max_size=20),
    st.uuids(),
)
def test_values_arrive_as_they_were_sent(text, number, truth, time, texts, data, uuid):
    values = [text, number, truth, time, texts, data, uuid]

    [sent] = send(VALUES.call(values))
    assert sent.rows == [tuple(values)]
