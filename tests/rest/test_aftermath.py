"""Aftermaths of refused requests: stored after the rollback, and never preventing the response."""

import pytest
from django.db import connection

from accounts.errors import MarketExists
from accounts.models import Market
from commerce.rest.models import IdempotencyRecord
from tests.problems import problem

AUSTRIA = {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}


def make_market(handle):
    return Market.objects.create(**AUSTRIA | {"handle": handle, "locale": f"{handle[:2]}-AT"})


def market_handles(shop):
    with shop.scope():
        return list(Market.objects.order_by("pk").values_list("handle", flat=True))


@pytest.fixture
def refuse(monkeypatch):
    """Refuse creating markets, after one was created, with this aftermath."""

    def refuse(aftermath):
        def create_market(fields):
            make_market("half-done")
            refusal = MarketExists(why="because")
            refusal.aftermath = aftermath
            raise refusal

        monkeypatch.setattr("accounts.operations.create_market", create_market)

    return refuse


@pytest.mark.django_db(transaction=True)
def test_aftermath_is_kept_and_the_request_is_not(shop, refuse):
    refuse(lambda: make_market("kept"))

    response = shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    assert problem(response) == (409, "market_exists")
    assert response.json()["why"] == "because"
    assert market_handles(shop) == ["de", "kept"]
    with shop.scope():
        assert not IdempotencyRecord.objects.exists()


@pytest.mark.parametrize(
    "aftermath", [lambda: 1 / 0, lambda: connection.cursor().execute("SELECT no_such_thing")]
)
def test_aftermath_that_fails_is_logged_and_leaves_the_answer(shop, refuse, caplog, aftermath):
    def failing():
        make_market("undone")
        aftermath()

    refuse(failing)

    response = shop.admin.post("markets.json", AUSTRIA)

    assert problem(response) == (409, "market_exists")
    assert [record.message for record in caplog.records] == ["The aftermath of a refusal failed"]
    assert market_handles(shop) == ["de"]


def test_aftermath_runs_in_the_scope_of_its_account(shop, other_shop, refuse):
    refuse(lambda: make_market("kept"))

    shop.workspace.post(f"{shop.handle}/markets.json", AUSTRIA)

    assert market_handles(shop) == ["de", "kept"]
    assert market_handles(other_shop) == ["de"]
