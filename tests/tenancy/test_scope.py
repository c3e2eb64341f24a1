"""A scope binds one transaction to one account and leaves nothing on the connection."""

import random
from uuid import UUID

import pytest
from django.db import DataError, connection, transaction

from accounts.models import Market
from commerce.tenancy.scope import (
    NoAccountInScope,
    NoWorkspaceInScope,
    ScopeAlreadyOpen,
    account_in_scope,
    account_scope,
    current_account_id,
    current_workspace_id,
    workspace_scope,
)
from tests.threads import run_threads

BOTH_SETTINGS = (
    "SELECT current_setting('commerce.account_id', true), current_setting('commerce.workspace_id', true)"
)


class Disturbance(Exception):
    pass


def settings_of_the_connection():
    with connection.cursor() as cursor:
        cursor.execute(BOTH_SETTINGS)
        return tuple(value or "" for value in cursor.fetchone())


def assert_no_workspace_in_scope():
    with pytest.raises(NoWorkspaceInScope):
        current_workspace_id()


def test_scope_binds_the_orm_and_the_database(shop):
    with shop.scope():
        assert current_account_id() == shop.id
        assert settings_of_the_connection() == (str(shop.id), "")

    assert account_in_scope() is None


def test_scope_with_a_workspace_shows_its_directory(shop, make_shop):
    sister = make_shop(workspace_id=shop.workspace_id)

    with account_scope(shop.id, workspace_id=shop.workspace_id):
        assert settings_of_the_connection() == (str(shop.id), str(shop.workspace_id))
        assert [market.account_id for market in Market.objects.all()] == [shop.id]
        with connection.cursor() as cursor:
            cursor.execute("SELECT id FROM accounts ORDER BY id")
            assert cursor.fetchall() == [(shop.id,), (sister.id,)]


@pytest.mark.parametrize(
    "touch",
    [
        Market.objects.count,
        lambda: list(Market.objects.all()),
        Market._base_manager.first,
        lambda: Market(handle="de"),
        lambda: Market.objects.create(handle="de"),
    ],
)
def test_orm_outside_of_a_scope_raises(shop, touch):
    with pytest.raises(NoAccountInScope):
        touch()


def test_orm_with_a_filter_on_another_account_finds_nothing(shop, other_shop):
    with shop.scope():
        assert list(Market.objects.filter(account_id=other_shop.id)) == []
        assert list(Market.objects.filter(pk=other_shop.market.pk)) == []


def test_orm_never_moves_a_row_to_another_account(shop, other_shop):
    with shop.scope():
        market = Market.objects.get()
        with pytest.raises(ValueError, match="never changes its account"):
            Market.objects.update(account_id=other_shop.id)
        market.account_id = other_shop.id
        market.save()

        assert Market.objects.get().account_id == shop.id


@pytest.mark.django_db(transaction=True)
def test_scope_leaves_nothing_on_the_connection(shop):
    with shop.scope():
        list(Market.objects.all())

    assert settings_of_the_connection() == ("", "")


@pytest.mark.django_db(transaction=True)
def test_scope_after_an_error_leaves_nothing_on_the_connection(shop):
    with pytest.raises(Disturbance), shop.scope():
        raise Disturbance

    assert account_in_scope() is None
    assert settings_of_the_connection() == ("", "")


@pytest.mark.django_db(transaction=True)
def test_scope_after_a_rollback_leaves_nothing_on_the_connection(shop):
    with shop.scope():
        Market.objects.update(name="Changed")
        transaction.set_rollback(True)

    assert settings_of_the_connection() == ("", "")
    with shop.scope():
        assert Market.objects.get().name == "Germany"


@pytest.mark.django_db(transaction=True)
def test_scope_of_a_workspace_leaves_nothing_on_the_connection(shop):
    with workspace_scope(shop.workspace_id):
        assert settings_of_the_connection() == ("", str(shop.workspace_id))

    assert settings_of_the_connection() == ("", "")
    assert_no_workspace_in_scope()


@pytest.mark.django_db(transaction=True)
def test_scope_of_an_account_inside_a_workspace_ends_before_it(shop):
    with workspace_scope(shop.workspace_id):
        with account_scope(shop.id):
            assert settings_of_the_connection() == (str(shop.id), str(shop.workspace_id))

        assert settings_of_the_connection() == ("", str(shop.workspace_id))


@pytest.mark.django_db(transaction=True)
def test_scope_of_an_account_that_failed_inside_a_workspace_ends_before_it(shop):
    with workspace_scope(shop.workspace_id):
        with pytest.raises(Disturbance), account_scope(shop.id):
            raise Disturbance

        assert settings_of_the_connection() == ("", str(shop.workspace_id))


def test_scope_inside_a_scope_raises(shop, other_shop):
    with shop.scope():
        for account_id in (shop.id, other_shop.id):
            with pytest.raises(ScopeAlreadyOpen), account_scope(account_id):
                pass
        with pytest.raises(ScopeAlreadyOpen), workspace_scope(shop.workspace_id):
            pass

        assert current_account_id() == shop.id
        assert settings_of_the_connection() == (str(shop.id), "")


def test_scope_of_a_workspace_inside_another_one_raises(shop, other_shop):
    with workspace_scope(shop.workspace_id):
        with pytest.raises(ScopeAlreadyOpen), workspace_scope(other_shop.workspace_id):
            pass

        assert current_workspace_id() == shop.workspace_id


@pytest.mark.django_db(transaction=True)
def test_scope_inside_an_open_transaction_raises(shop):
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"), shop.scope():
        pass

    assert account_in_scope() is None


@pytest.mark.parametrize("account_id", ["1; DROP TABLE carts", "'", None, "1 OR 1=1"])
def test_scope_takes_no_sql(db, account_id):
    with pytest.raises((ValueError, TypeError)), account_scope(account_id):
        pass


@pytest.mark.parametrize("workspace_id", ["'; DROP TABLE carts; --", "x"])
def test_scope_of_a_workspace_takes_no_sql(db, workspace_id):
    with pytest.raises(ValueError, match="UUID"), workspace_scope(workspace_id):
        pass

    assert_no_workspace_in_scope()


@pytest.mark.django_db(transaction=True)
def test_scopes_of_many_threads_never_mix_on_pooled_connections(make_shop):
    shops = [make_shop() for _ in range(6)]
    workspaces: dict[int, UUID] = {shop.id: shop.workspace_id for shop in shops}

    def interleave(index: int) -> list[tuple[int, list[int]]]:
        chance = random.Random(index)
        seen = []
        for _ in range(40):
            account_id = chance.choice(list(workspaces))
            seen.append((account_id, visit(account_id, chance)))
            if settings_of_the_connection() != ("", ""):
                raise AssertionError("A connection carries a scope.")
            if chance.random() < 0.3:
                # Back to the pool, so that the next request may get another thread's connection.
                connection.close()
        return seen

    def visit(account_id: int, chance: random.Random) -> list[int]:
        try:
            with (
                account_scope(account_id, workspace_id=workspaces[account_id]),
                connection.cursor() as cursor,
            ):
                cursor.execute("SELECT account_id FROM markets")
                accounts = [row[0] for row in cursor.fetchall()]
                leave(chance.choice(["commit", "rollback", "error", "database error"]))
        except (Disturbance, DataError):
            return accounts
        return accounts

    def leave(how: str) -> None:
        transaction.set_rollback(how == "rollback")
        if how == "database error":
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 / 0")
        if how == "error":
            raise Disturbance

    visits = [visit for seen in run_threads(8, interleave) for visit in seen]

    assert len(visits) == 320
    assert all(accounts == [account_id] for account_id, accounts in visits)
