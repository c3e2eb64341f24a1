"""The maximum number of rates of a shipping method."""

import pytest

from shipping.operations import rates
from tests import factories
from tests.problems import problem
from tests.threads import run_threads


def add(shop, method, price_cents):
    body = {"price_cents": price_cents, "currency": "EUR"}
    return shop.admin.post(f"shipping/methods/{method.pk}/rates.json", body)


def prices(shop, method):
    shown = shop.admin.get(f"shipping/methods/{method.pk}/rates.json").json()["rates"]
    return [rate["price_cents"] for rate in shown]


def test_rate_past_the_limit_is_refused(shop, monkeypatch):
    monkeypatch.setattr(rates, "MAX_RATES", 1)
    method = factories.make_method(shop, rate_mode="tiered")
    first = add(shop, method, 100).json()["rate"]

    refused = add(shop, method, 200)

    assert (problem(refused), refused.json()["max_rates"]) == ((422, "too_many_rates"), 1)
    assert prices(shop, method) == ["100"]
    shop.admin.delete(f"shipping/rates/{first['id']}.json")
    assert add(shop, method, 200).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_rates_added_at_once_stay_within_the_limit(shop, monkeypatch):
    monkeypatch.setattr(rates, "MAX_RATES", 2)
    method = factories.make_method(shop, rate_mode="tiered")

    statuses = run_threads(6, lambda index: add(shop, method, index).status_code)

    assert sorted(statuses) == [201] * 2 + [422] * 4
    assert len(prices(shop, method)) == 2
