"""Writes that wait for the next message of their transaction, or for COMMIT."""

import pytest
from django.db import DataError, connection, transaction

from commerce.tenancy.scope import account_scope
from commerce.tenancy.statements import post, send
from tests.tenancy.test_messages import HALF, NAME, RENAME, SETTING, messages, rows, setting  # noqa: F401  a fixture

pytestmark = pytest.mark.django_db(transaction=True)


def test_posted_write_goes_with_the_next_statement_or_with_commit(shop, setting):  # noqa: F811
    with messages() as sent, account_scope(shop.id):
        post(RENAME.call({"account": shop.id, "name": "A"}))
        assert send(NAME.call([shop.id]))[0].rows == [("A",)]
        post(RENAME.call({"account": shop.id, "name": "B"}))
        assert rows("SELECT name FROM markets WHERE account_id = %s", [shop.id]) == [("B",)]
        post(RENAME.call({"account": shop.id, "name": "C"}))

    update = "UPDATE markets SET name = $1 WHERE account_id = $2 RETURNING name || $1"
    prepared = f"PREPARE name AS {update}; PREPARE name AS {NAME.replace('%s', '$1')}"
    assert sent == [
        f"{prepared}; BEGIN; {setting}; EXECUTE name('A', '{shop.id}'); EXECUTE name('{shop.id}')",
        f"EXECUTE name('B', '{shop.id}')",
        "bound",
        f"EXECUTE name('C', '{shop.id}'); COMMIT",
    ]
    with account_scope(shop.id):
        assert rows(NAME, [shop.id]) == [("C",)]


def test_scope_that_only_posts_takes_one_message(shop, setting):  # noqa: F811
    with messages() as sent, account_scope(shop.id):
        post(RENAME.call({"account": shop.id, "name": "A"}))

    update = "UPDATE markets SET name = $1 WHERE account_id = $2 RETURNING name || $1"
    assert sent == [
        f"PREPARE name AS {update}; BEGIN; {setting}; EXECUTE name('A', '{shop.id}'); COMMIT",
    ]


def test_posted_write_is_dropped_with_its_transaction_or_savepoint(shop, setting):  # noqa: F811
    def name_and_fail(name):
        with transaction.atomic():
            post(RENAME.call({"account": shop.id, "name": name}))
            raise KeyError

    with pytest.raises(KeyError), account_scope(shop.id):
        name_and_fail("A")
    with account_scope(shop.id):
        post(RENAME.call({"account": shop.id, "name": "B"}))
        with pytest.raises(KeyError):
            name_and_fail("C")
        assert rows(NAME, [shop.id]) == [("B",)]


def test_posted_write_that_fails_rolls_everything_back(shop, setting):  # noqa: F811
    too_long = {"account": shop.id, "name": "N" * 1_000}

    def fail(**options):
        with account_scope(shop.id):
            rows(RENAME, {"account": shop.id, "name": "A"})
            post(RENAME.call(too_long))
            if options:
                rows("SELECT 1")

    with account_scope(shop.id):
        before = rows(NAME, [shop.id])
    with pytest.raises(DataError):
        fail()
    with pytest.raises(DataError):
        fail(reads=True)
    with account_scope(shop.id):
        assert rows(NAME, [shop.id]) == before


@pytest.mark.parametrize("value", ["\0", "\ud800"])
def test_value_that_cannot_be_encoded_is_refused_when_it_is_posted(shop, setting, value):  # noqa: F811
    with account_scope(shop.id):
        post(RENAME.call({"account": shop.id, "name": "A"}))
        for run in (post, send):
            with pytest.raises((DataError, UnicodeEncodeError)):
                run(RENAME.call({"account": shop.id, "name": value}))

    with account_scope(shop.id):
        with pytest.raises((DataError, UnicodeEncodeError)):
            send(RENAME.call({"account": shop.id, "name": value}))
        # The transaction still has to begin, with its setting.
        assert rows(NAME, [shop.id]) == [("A",)]


@pytest.mark.parametrize("failing", [["_commit_gen"], ["_commit_gen", "_rollback_gen"]])
def test_transaction_that_ends_by_another_error_is_rolled_back(shop, other_shop, monkeypatch, failing):
    def stop(*arguments, **options):
        raise KeyError

    def rename_in_vain(patch):
        with account_scope(shop.id):
            send(RENAME.call({"account": shop.id, "name": "A"}))
            for name in failing:
                patch.setattr(type(connection.connection), name, stop)

    with account_scope(shop.id):
        before = rows(NAME, [shop.id])
    with monkeypatch.context() as patch, pytest.raises(KeyError):
        rename_in_vain(patch)
    with account_scope(other_shop.id):
        assert send(SETTING.call())[0].rows == [(str(other_shop.id),)]
        assert send(RENAME.call({"account": other_shop.id, "name": "B"}))[0].rows == [("BB",)]

    with account_scope(shop.id):
        assert rows(NAME, [shop.id]) == before


def test_posted_write_outside_of_a_transaction_is_run_at_once(setting):  # noqa: F811
    with messages() as sent:
        post(HALF.call([2]))

    assert sent == [f"PREPARE name AS {HALF.replace('%s', '$1')}; EXECUTE name('2')"]
