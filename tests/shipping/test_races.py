"""Concurrent changes of shipping settings, with real threads."""

import pytest

from shipping import quotes
from shipping.matching import Parcel, options
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from tests.factories import make_method, make_zone
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = {"country_code": "DE", "weight_grams": 1, "subtotal_cents": 1, "currency": "EUR"}


def test_quotes_at_once_make_one_rate_for_a_free_method(shop):
    method = make_method(shop, rate_mode="free")

    answers = run_threads(8, lambda _: shop.admin.post("shipping/quote.json", ASKED))

    assert {answer.status_code for answer in answers} == {200}
    with shop.scope():
        rate = ShippingRate.objects.get(method=method)
    assert {option["rate_id"] for answer in answers for option in answer.json()["quotes"]} == {str(rate.pk)}


@pytest.mark.parametrize(
    "change",
    [
        lambda shop, path: shop.admin.delete(path),
        lambda shop, path: shop.admin.put(path, {"rate_mode": "flat"}),
    ],
)
def test_free_method_that_is_deleted_or_changed_within_a_quote_gets_no_rate(shop, change):
    method = make_method(shop, rate_mode="free")
    parcel = Parcel(**ASKED)

    with shop.scope():
        found = quotes.candidates(parcel)
        run_threads(1, lambda _: change(shop, f"shipping/methods/{method.pk}.json"))
        completed = quotes.with_free_rates(parcel, found)

    assert options(parcel, completed) == []
    with shop.scope():
        assert not ShippingRate.objects.filter(method=method).exists()


def test_quotes_and_a_deletion_at_once_leave_no_live_rate(shop):
    for _ in range(5):
        method = make_method(shop, rate_mode="free")

        def act(index, path=f"shipping/methods/{method.pk}.json"):
            return shop.admin.post("shipping/quote.json", ASKED) if index else shop.admin.delete(path)

        answers = run_threads(4, act)

        assert [answer.status_code for answer in answers] == [204, 200, 200, 200]
        with shop.scope():
            assert not ShippingRate.objects.filter(method=method, deleted_at=None).exists()


def test_flat_rates_at_once_end_as_one(shop):
    method = make_method(shop, rate_mode="flat")
    body = {"price_cents": 490, "currency": "EUR"}

    answers = run_threads(8, lambda _: shop.admin.post(f"shipping/methods/{method.pk}/rates.json", body))

    assert sorted(answer.status_code for answer in answers) == [201, *[409] * 7]
    with shop.scope():
        assert ShippingRate.objects.filter(method=method).count() == 1


def test_priced_rates_and_a_change_to_free_at_once_stay_consistent(shop):
    method = make_method(shop)
    body = {"price_cents": 490, "currency": "EUR"}

    def act(index):
        if index % 2:
            return shop.admin.put(f"shipping/methods/{method.pk}.json", {"rate_mode": "free"})
        return shop.admin.post(f"shipping/methods/{method.pk}/rates.json", body)

    answers = run_threads(6, act)

    assert {answer.status_code for answer in answers} <= {200, 201, 409, 422}
    with shop.scope():
        is_free = ShippingMethod.objects.get(pk=method.pk).rate_mode == "free"
        assert ShippingRate.objects.filter(method=method, price_cents__gt=0).exists() is not is_free


def test_a_zone_deleted_while_methods_are_made_has_none_left(shop):
    zone = make_zone(shop)
    fields = {"name": "M", "zone_id": zone.pk, "carrier": "dhl", "service_code": "eu", "rate_mode": "flat"}

    def act(index):
        if index == 0:
            return shop.admin.delete(f"shipping/zones/{zone.pk}.json")
        return shop.admin.post("shipping/methods.json", fields | {"handle": f"method-{index}"})

    answers = run_threads(5, act)

    assert {answer.status_code for answer in answers} <= {201, 204, 409, 422}
    with shop.scope():
        is_deleted = ShippingZone.objects.get(pk=zone.pk).deleted_at is not None
        assert ShippingMethod.objects.filter(zone=zone).exists() is not is_deleted
