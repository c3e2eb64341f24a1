"""Concurrent changes of shipping settings, with real threads."""

import pytest

from shipping import quotes
from shipping.errors import ShippingRateNotAvailable
from shipping.matching import Parcel, compute_automatic_rate_id, list_options
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from shipping.operations import choose_option
from tests.factories import make_method, make_zone
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)

PARCEL = Parcel(country_code="DE", weight_grams=1, subtotal_cents=1, currency="EUR")


def choose(shop, method):
    """Choose the made rate of a free method; whether it was available."""
    with shop.scope():
        try:
            choose_option(PARCEL, method_id=method.pk, rate_id=compute_automatic_rate_id(method.pk, "EUR"))
        except ShippingRateNotAvailable:
            return False
    return True


def test_shoppers_who_choose_a_free_method_at_once_get_one_rate(shop):
    for _ in range(20):
        method = make_method(shop, rate_mode="free")

        answers = run_threads(8, lambda _, method=method: choose(shop, method))

        assert answers == [True] * 8
        with shop.scope():
            rate = ShippingRate.objects.get(method=method)
        assert rate.pk == compute_automatic_rate_id(method.pk, "EUR")


@pytest.mark.parametrize(
    "change",
    [
        lambda shop, path: shop.admin.delete(path),
        lambda shop, path: shop.admin.put(path, {"rate_mode": "flat"}),
    ],
)
def test_free_method_that_is_deleted_or_changed_after_the_quote_gets_no_rate(shop, change):
    method = make_method(shop, rate_mode="free")

    with shop.scope():
        (quoted,) = list_options(
            PARCEL, [found.with_automatic_rate(PARCEL) for found in quotes.load_candidates(PARCEL)]
        )
        run_threads(1, lambda _: change(shop, f"shipping/methods/{method.pk}.json"))
        is_stored = quotes.store_automatic_rate(quoted)

    assert is_stored is False
    assert choose(shop, method) is False
    with shop.scope():
        assert not ShippingRate.objects.filter(method=method).exists()


def test_choices_and_a_deletion_at_once_leave_no_live_rate(shop):
    for _ in range(5):
        method = make_method(shop, rate_mode="free")

        def act(index, method=method):
            if index:
                return choose(shop, method)
            return shop.admin.delete(f"shipping/methods/{method.pk}.json").status_code

        status, *_ = run_threads(4, act)

        assert status == 204
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
