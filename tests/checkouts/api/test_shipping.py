"""GET checkouts/{token}/shipping_quote.json and PUT checkouts/{token}/shipping.json."""

import pytest
from django.utils import timezone

from shipping.models import PickupPoint, ShippingMethod, ShippingRate
from tests import factories
from tests.storefront import checkout_in, enter_checkout, take_step


@pytest.fixture
def checkout(shop):
    factories.make_tax_rate(shop, 1900)
    variant = factories.make_variant(shop, price_cents=2000, weight_grams=700)
    return checkout_in("address", shop, (variant, 2))


def put(shop, checkout, rate, **body):
    path = f"checkouts/{checkout['token']}/shipping.json"
    return shop.storefront.put(
        path, {"shipping_method_id": rate.method_id, "shipping_rate_id": rate.pk} | body
    )


def quoted(shop, checkout):
    answer = shop.storefront.get(f"checkouts/{checkout['token']}/shipping_quote.json")
    return {quote["rate_id"] for quote in answer.json()["quotes"]}


def test_quote_is_of_the_checkouts_own_shape(shop, checkout):
    method = factories.make_method(shop)
    fits = factories.make_rate(
        shop, method=method, min_weight_grams=1400, max_weight_grams=1400, min_quantity=2
    )
    dear = factories.make_rate(shop, method=method, min_subtotal_cents=4000, max_subtotal_cents=4000)
    factories.make_rate(shop, method=method, max_weight_grams=1399)
    factories.make_rate(shop, method=method, min_subtotal_cents=4001)
    factories.make_rate(shop, method=method, currency="CZK")
    factories.make_rate(
        shop, method=factories.make_method(shop, zone=factories.make_zone(shop, zip_patterns=["2*"]))
    )

    assert quoted(shop, checkout) >= {str(fits.pk), str(dear.pk)}
    assert len(quoted(shop, checkout)) == 3  # the rate that the fixture's own checkout was made with, too


def test_quote_needs_an_address(shop):
    checkout = enter_checkout(shop, (factories.make_variant(shop), 1))

    answer = shop.storefront.get(f"checkouts/{checkout['token']}/shipping_quote.json")

    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_phase")


def test_shipping_is_priced_in_with_its_tax(shop, checkout):
    rate = factories.make_rate(shop, price_cents=595, display_name="Tomorrow")

    answer = put(shop, checkout, rate)

    shown = answer.json()["checkout"]
    assert (answer.status_code, shown["phase"]) == (200, "shipping")
    totals = shown["totals"]
    assert (totals["shipping_cents"], totals["shipping_tax_cents"]) == ("595", "95")
    assert (totals["total_cents"], totals["tax_cents"]) == ("4595", "734")
    assert (shown["shipping_method_id"], shown["shipping_rate_id"]) == (str(rate.method_id), str(rate.pk))
    assert shown["shipping_method"]["display_name"] == "Tomorrow"


def test_snapshot_stays_when_method_and_rate_are_deleted(shop, checkout):
    rate = factories.make_rate(shop, price_cents=595)
    chosen = put(shop, checkout, rate).json()["checkout"]
    with shop.scope():
        ShippingRate.objects.filter(pk=rate.pk).update(deleted_at=timezone.now())
        ShippingMethod.objects.filter(pk=rate.method_id).update(deleted_at=timezone.now())

    paying = take_step("payment", shop, checkout["token"], rate=rate)

    assert paying["shipping_method"] == chosen["shipping_method"]
    assert paying["totals"]["shipping_cents"] == "595"


def refused(shop, checkout, answer, status, code):
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    shown = shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"]
    assert shown == checkout


def test_rate_that_does_not_apply_is_refused(shop, checkout):
    rate = factories.make_rate(shop, max_weight_grams=100)

    refused(shop, checkout, put(shop, checkout, rate), 409, "shipping_rate_not_available")


def test_deleted_rate_is_refused(shop, checkout):
    rate = factories.make_rate(shop, deleted_at=timezone.now())

    refused(shop, checkout, put(shop, checkout, rate), 409, "shipping_rate_not_available")


def test_rate_of_another_method_is_refused(shop, checkout):
    rate, other = factories.make_rate(shop), factories.make_rate(shop)

    answer = put(shop, checkout, rate, shipping_method_id=other.method_id)

    refused(shop, checkout, answer, 409, "shipping_rate_not_available")


def test_rate_in_another_currency_is_refused(shop, checkout):
    rate = factories.make_rate(shop, currency="CZK")

    refused(shop, checkout, put(shop, checkout, rate), 409, "currency_mismatch")


def test_foreign_ids_are_named(shop, other_shop, checkout):
    foreign = factories.make_rate(other_shop)

    answer = put(shop, checkout, foreign)

    refused(shop, checkout, answer, 422, "validation_failed")


@pytest.fixture
def locker_rate(shop):
    return factories.make_rate(
        shop, method=factories.make_method(shop, carrier="packeta", requires_pickup_point=True)
    )


def test_pickup_point_is_kept_as_it_was(shop, checkout, locker_rate):
    point = factories.make_pickup_point(name="Corner shop")

    answer = put(shop, checkout, locker_rate, pickup_point_id=point.pk)
    PickupPoint.objects.filter(pk=point.pk).update(name="Renamed")

    assert answer.status_code == 200
    shown = shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"]
    assert (shown["pickup_point_id"], shown["pickup_point"]["name"]) == (str(point.pk), "Corner shop")


def test_missing_pickup_point_is_refused(shop, checkout, locker_rate):
    refused(shop, checkout, put(shop, checkout, locker_rate), 422, "pickup_point_required")


def test_another_carriers_point_is_refused(shop, checkout, locker_rate):
    point = factories.make_pickup_point(carrier="dhl")

    answer = put(shop, checkout, locker_rate, pickup_point_id=point.pk)

    refused(shop, checkout, answer, 422, "pickup_point_mismatch")


def test_closed_point_is_refused(shop, checkout, locker_rate):
    point = factories.make_pickup_point(status="closed")

    answer = put(shop, checkout, locker_rate, pickup_point_id=point.pk)

    refused(shop, checkout, answer, 409, "pickup_point_closed")
