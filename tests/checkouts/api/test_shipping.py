"""GET checkouts/{token}/shipping_quote.json and PUT checkouts/{token}/shipping.json."""

import pytest
from django.db import connection
from django.utils import timezone

from commerce.tenancy.statements import Prepared
from shipping.models import PickupPoint, ShippingRate
from tests import factories
from tests.storefront import checkout_in, enter_checkout, take_step
from tests.tenancy.watching import statements_of


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
    assert len(quoted(shop, checkout)) == 3  # also the rate that the fixture's checkout was created with


@pytest.mark.parametrize("lines", [1, 3])
def test_quote_takes_two_statements(shop, lines):
    variants = [(factories.make_variant(shop), 1) for _ in range(lines)]
    path = f"checkouts/{checkout_in('address', shop, *variants)['token']}/shipping_quote.json"
    shop.storefront.get(path)
    sent = []

    def note(execute, sql, *arguments):
        sent.extend(statements_of(sql))
        return execute(sql, *arguments)

    with connection.execute_wrapper(note):
        answer = shop.storefront.get(path)

    assert answer.status_code == 200
    # The parcel, and its options. The others belong to the scope in the test's transaction.
    assert [isinstance(statement, Prepared) for statement in sent].count(True) == 2


def test_quote_of_an_unknown_checkout_is_not_found(shop):
    assert shop.storefront.get("checkouts/unknown/shipping_quote.json").status_code == 404


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


def test_checkout_completes_with_what_was_deleted_meanwhile(shop, checkout):
    zone = factories.make_zone(shop)
    rate = factories.make_rate(shop, method=factories.make_method(shop, zone=zone), price_cents=595)
    chosen = put(shop, checkout, rate).json()["checkout"]
    for path in (f"rates/{rate.pk}.json", f"methods/{rate.method_id}.json", f"zones/{zone.pk}.json"):
        assert shop.admin.delete(f"shipping/{path}").status_code == 204

    for phase in ("payment", "processing", "ready", "completed"):
        shown = take_step(phase, shop, checkout["token"], rate=rate)
        assert shown["shipping_method"] == chosen["shipping_method"]

    order = shop.storefront.get(f"orders/{shown['order_token']}.json").json()["order"]
    assert order["shipping_method"] == chosen["shipping_method"]
    assert (order["totals"]["shipping_cents"], order["totals"]["total_cents"]) == ("595", "4595")


def test_order_keeps_its_shipping_when_the_method_is_deleted(shop):
    rate = factories.make_rate(shop)
    variant = factories.make_variant(shop)
    token = checkout_in("completed", shop, (variant, 1), rate=rate)["order_token"]
    before = shop.storefront.get(f"orders/{token}.json").json()

    shop.admin.delete(f"shipping/methods/{rate.method_id}.json")

    assert shop.storefront.get(f"orders/{token}.json").json() == before


def named(answer):
    """Return `(field, code)` of each field error."""
    return [(error["field"], error["code"]) for error in answer.json()["errors"]]


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

    answer = put(shop, checkout, rate)

    refused(shop, checkout, answer, 409, "currency_mismatch")
    assert (answer.json()["currency"], answer.json()["rate_currency"]) == ("EUR", "CZK")


def test_foreign_ids_are_named(shop, other_shop, checkout):
    foreign = factories.make_rate(other_shop)

    answer = put(shop, checkout, foreign)

    refused(shop, checkout, answer, 422, "validation_failed")
    assert named(answer) == [("shipping_method_id", "not_found"), ("shipping_rate_id", "not_found")]


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"shipping_method_id": None}, "shipping_method_id", "null"),
        ({"shipping_method_id": 2**53 - 1}, "shipping_method_id", "not_found"),
        ({"shipping_rate_id": "x"}, "shipping_rate_id", "invalid"),
        ({"shipping_rate_id": 2**53 - 1}, "shipping_rate_id", "not_found"),
        ({"pickup_point_id": 0}, "pickup_point_id", "min_value"),
        ({"pickup_point_id": 2**53 - 1}, "pickup_point_id", "not_found"),
    ],
)
def test_id_that_names_nothing_is_refused(shop, checkout, body, field, code):
    answer = put(shop, checkout, factories.make_rate(shop), **body)

    refused(shop, checkout, answer, 422, "validation_failed")
    assert named(answer) == [(field, code)]


@pytest.mark.parametrize("path", ["rates/{0.pk}.json", "methods/{0.method_id}.json"])
def test_option_deleted_since_the_quote_is_refused(shop, checkout, path):
    rate = factories.make_rate(shop)
    assert str(rate.pk) in quoted(shop, checkout)
    shop.admin.delete("shipping/" + path.format(rate))

    refused(shop, checkout, put(shop, checkout, rate), 409, "shipping_rate_not_available")


def test_option_whose_bounds_changed_since_the_quote_is_refused(shop, checkout):
    rate = factories.make_rate(shop, max_weight_grams=1400)
    assert str(rate.pk) in quoted(shop, checkout)
    shop.admin.put(f"shipping/rates/{rate.pk}.json", {"max_weight_grams": 1399})

    refused(shop, checkout, put(shop, checkout, rate), 409, "shipping_rate_not_available")


@pytest.mark.parametrize("zone", [{"country_codes": ["AT"]}, {"zip_patterns": ["2*"]}])
def test_rate_of_a_zone_elsewhere_is_refused(shop, checkout, zone):
    method = factories.make_method(shop, zone=factories.make_zone(shop, **zone))
    rate = factories.make_rate(shop, method=method)

    refused(shop, checkout, put(shop, checkout, rate), 409, "shipping_rate_not_available")


def test_rate_of_a_zone_for_another_market_is_refused(shop, checkout):
    market = shop.admin.post(
        "markets.json",
        {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"},
    ).json()["market"]
    elsewhere = factories.make_zone(shop, market_id=int(market["id"]))
    own = factories.make_zone(shop, market=shop.market)
    refused_rate, rate = (
        factories.make_rate(shop, method=factories.make_method(shop, zone=zone)) for zone in (elsewhere, own)
    )

    answer = put(shop, checkout, refused_rate)

    refused(shop, checkout, answer, 409, "shipping_rate_not_available")
    assert put(shop, checkout, rate).status_code == 200


def test_free_method_is_chosen_through_the_rate_made_for_it(shop, checkout):
    method = factories.make_method(shop, rate_mode="free")
    answer = shop.storefront.get(f"checkouts/{checkout['token']}/shipping_quote.json")
    (rate_id,) = (
        quote["rate_id"] for quote in answer.json()["quotes"] if quote["method"]["id"] == str(method.pk)
    )
    with shop.scope():
        assert not ShippingRate.objects.filter(method=method).exists()

    shown = put(
        shop, checkout, ShippingRate(pk=int(rate_id), account_id=shop.id, method_id=method.pk)
    ).json()["checkout"]

    with shop.scope():
        rate = ShippingRate.objects.get(method=method)

    assert (rate.is_automatic, shown["shipping_rate_id"]) == (True, rate_id)
    assert (shown["totals"]["shipping_cents"], shown["totals"]["total_cents"]) == ("0", "4000")
    assert shown["shipping_method"]["is_free"] is True


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


@pytest.mark.parametrize("fields", [{"carrier": "dhl"}, {"country_code": "CZ"}, {"max_weight_grams": 1399}])
def test_point_that_does_not_fit_is_refused(shop, checkout, locker_rate, fields):
    point = factories.make_pickup_point(**fields)

    answer = put(shop, checkout, locker_rate, pickup_point_id=point.pk)

    refused(shop, checkout, answer, 422, "pickup_point_mismatch")


def test_closed_point_is_refused(shop, checkout, locker_rate):
    point = factories.make_pickup_point(status="closed")

    answer = put(shop, checkout, locker_rate, pickup_point_id=point.pk)

    refused(shop, checkout, answer, 409, "pickup_point_closed")
