import re

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Market
from commerce.errors import ValidationFailed
from commerce.paging import Cursor
from shipping import queries
from shipping.errors import (
    CurrencyMismatch,
    PickupPointClosed,
    PickupPointMismatch,
    PickupPointRequired,
    ShippingRateNotAvailable,
)
from shipping.explanations import explain
from shipping.matching import Candidate, Method, Option, Parcel, Rate, compute_automatic_rate_id, list_options
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from shipping.operations import choose_option, delete_rate, update_rate
from tests.factories import make_method, make_pickup_point, make_rate, make_zone
from tests.plans import plan_of
from tests.shipping.strategies import parcels, rates, zones


def parcel(**fields):
    defaults = {"country_code": "DE", "zip": "10115", "weight_grams": 1000, "subtotal_cents": 5000}
    return Parcel(**defaults | {"currency": "EUR"} | fields)


def option(**fields):
    method = Method(1, "parcel", "Parcel", "packeta", "point", "tiered", **fields)
    return Option(method=method, rate=Rate(1, 490, "EUR"), is_best=True)


@pytest.mark.parametrize("number", [1, 30])
def test_quote_takes_one_statement(shop, django_assert_num_queries, number):
    with shop.scope():
        zone = make_zone(shop)
        for _ in range(number):
            make_rate(shop, method=make_method(shop, zone=zone))

        with django_assert_num_queries(1):
            found = queries.quote(parcel())

    assert len(found) == number


@pytest.mark.parametrize("number", [1, 30])
def test_quote_makes_missing_rates_without_storing_them(shop, django_assert_num_queries, number):
    with shop.scope():
        zone = make_zone(shop)
        for _ in range(number):
            make_method(shop, zone=zone, rate_mode="free")

        with django_assert_num_queries(1):
            made = queries.quote(parcel())
        again = queries.quote(parcel())

        assert len({option.rate.id for option in made}) == number
        assert again == made
        assert not ShippingRate.objects.exists()


def test_quote_sees_the_account_in_scope_alone(shop, other_shop):
    make_rate(other_shop)

    with shop.scope():
        assert queries.quote(parcel()) == []


def test_choosing_what_was_quoted_takes_one_statement(shop, django_assert_num_queries):
    with shop.scope():
        rate = make_rate(shop)
        quoted = queries.quote(parcel())

        with django_assert_num_queries(1):
            found = choose_option(parcel(), method_id=rate.method_id, rate_id=rate.pk)

    assert [found] == quoted


def test_choosing_stores_an_automatic_rate_in_a_second_statement(shop, django_assert_num_queries):
    with shop.scope():
        method = make_method(shop, rate_mode="free")
        (quoted,) = queries.quote(parcel())
        with django_assert_num_queries(2):
            chosen = choose_option(parcel(), method_id=method.pk, rate_id=quoted.rate.id)
        with django_assert_num_queries(1):
            again = choose_option(parcel(), method_id=method.pk, rate_id=quoted.rate.id)

        assert chosen == again == quoted
        stored = ShippingRate.objects.get(method=method)
        assert (stored.pk, stored.price_cents, stored.currency) == (quoted.rate.id, 0, "EUR")
        assert (stored.is_automatic, stored.deleted_at) == (True, None)
        assert queries.quote(parcel()) == [quoted]


def test_choosing_an_automatic_rate_again_after_the_merchant_deleted_it_restores_it(shop):
    with shop.scope():
        method = make_method(shop, rate_mode="free")
        (quoted,) = queries.quote(parcel())
        choice = {"method_id": method.pk, "rate_id": quoted.rate.id}
        choose_option(parcel(), **choice)
        update_rate(
            rate_id=quoted.rate.id,
            changes={"min_subtotal_cents": 1, "display_name": "Own"},
            now=timezone.now(),
        )
        delete_rate(rate_id=quoted.rate.id, now=timezone.now())

        choose_option(parcel(), **choice)

        stored = ShippingRate.objects.get(method=method)
        assert (stored.is_automatic, stored.min_subtotal_cents, stored.display_name) == (True, None, None)
        assert stored.deleted_at is None
        assert queries.quote(parcel()) == [quoted]


def test_quoted_rate_that_was_never_stored_is_refused_as_a_stored_one_would_be(shop, other_shop):
    with shop.scope():
        method = make_method(shop, rate_mode="free")
        in_euros, in_crowns = (compute_automatic_rate_id(method.pk, currency) for currency in ("EUR", "CZK"))
        with pytest.raises(CurrencyMismatch):
            choose_option(parcel(), method_id=method.pk, rate_id=in_crowns)
        make_rate(shop, method=method, price_cents=0, currency="USD")
        with pytest.raises(ShippingRateNotAvailable):
            choose_option(parcel(), method_id=method.pk, rate_id=in_euros)
        assert [rate.currency for rate in ShippingRate.objects.all()] == ["USD"]
    with other_shop.scope(), pytest.raises(ValidationFailed):
        choose_option(parcel(), method_id=method.pk, rate_id=in_euros)


def test_option_of_another_methods_rate_is_refused(shop):
    with shop.scope():
        rate, other = make_rate(shop), make_rate(shop)

        with pytest.raises(ShippingRateNotAvailable):
            choose_option(parcel(), method_id=other.method_id, rate_id=rate.pk)


def test_choosing_refuses_ids_that_name_nothing(shop, other_shop):
    foreign = make_rate(other_shop)
    with shop.scope():
        rate = make_rate(shop)

        with pytest.raises(ValidationFailed) as both:
            choose_option(parcel(), method_id=foreign.method_id, rate_id=foreign.pk)
        with pytest.raises(ValidationFailed) as method_alone:
            choose_option(parcel(), method_id=foreign.method_id, rate_id=rate.pk)
        with pytest.raises(ValidationFailed) as rate_alone:
            choose_option(parcel(), method_id=rate.method_id, rate_id=foreign.pk)

    assert [error.field for error in both.value.errors] == ["shipping_method_id", "shipping_rate_id"]
    assert [error.field for error in method_alone.value.errors] == ["shipping_method_id"]
    assert [error.field for error in rate_alone.value.errors] == ["shipping_rate_id"]


def test_choosing_refuses_a_rate_in_another_currency(shop):
    with shop.scope():
        rate = make_rate(shop, currency="CZK")

        with pytest.raises(CurrencyMismatch) as refusal:
            choose_option(parcel(), method_id=rate.method_id, rate_id=rate.pk)

    assert refusal.value.extras == {"currency": "EUR", "rate_currency": "CZK"}


@pytest.mark.parametrize("changes", [{"country_code": "AT"}, {"weight_grams": 5001}])
def test_choosing_refuses_a_rate_that_does_not_apply(shop, changes):
    with shop.scope():
        rate = make_rate(shop, max_weight_grams=5000)

        with pytest.raises(ShippingRateNotAvailable):
            choose_option(parcel(**changes), method_id=rate.method_id, rate_id=rate.pk)


@pytest.mark.parametrize("path", ["rates/{0.pk}.json", "methods/{0.method_id}.json"])
def test_choosing_refuses_what_was_deleted(shop, path):
    rate = make_rate(shop)
    shop.admin.delete("shipping/" + path.format(rate))

    with shop.scope(), pytest.raises(ShippingRateNotAvailable):
        choose_option(parcel(), method_id=rate.method_id, rate_id=rate.pk)


def test_choose_pickup_point_fits_the_method(db):
    point = make_pickup_point(max_weight_grams=1000)

    chosen = queries.choose_pickup_point(
        parcel(), option=option(requires_pickup_point=True), pickup_point_id=point.pk
    )

    assert chosen == point


def test_choose_pickup_point_may_be_left_out_unless_required(db):
    assert queries.choose_pickup_point(parcel(), option=option(), pickup_point_id=None) is None
    with pytest.raises(PickupPointRequired):
        queries.choose_pickup_point(parcel(), option=option(requires_pickup_point=True), pickup_point_id=None)


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"carrier": "dpd"}, PickupPointMismatch),
        ({"country_code": "CZ"}, PickupPointMismatch),
        ({"max_weight_grams": 999}, PickupPointMismatch),
        ({"status": "closed"}, PickupPointClosed),
    ],
)
def test_choose_pickup_point_that_does_not_fit_is_refused(db, fields, refusal):
    point = make_pickup_point(**fields)

    with pytest.raises(refusal):
        queries.choose_pickup_point(parcel(), option=option(), pickup_point_id=point.pk)


def test_choose_pickup_point_that_does_not_exist_is_refused(db):
    with pytest.raises(ValidationFailed) as refusal:
        queries.choose_pickup_point(parcel(), option=option(), pickup_point_id=1)

    assert [(error.field, error.code) for error in refusal.value.errors] == [("pickup_point_id", "not_found")]


@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("filters", [{}, {"country_code": "DE"}, {"country_code": "DE", "carrier": "dpd"}])
def test_postcode_prefix_uses_its_index(db, plan, filters):
    fill_pickup_points()

    # With a million rows, the planner tends to walk the primary key to avoid a sort; these settings provoke that.
    found = plan_of(
        lambda: queries.list_pickup_points(cursor=Cursor(), postcode_prefix="1", **filters),
        f"plan_cache_mode = '{plan}'",
        "enable_sort = off",
    )

    assert re.search(r"Index Cond: .*normalised_zip.* >= '1'", found)
    assert "Backward" not in found


@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(
    ("filters", "index"),
    [({"carrier": "gls"}, "pickup_points_carrier"), ({"country_code": "FR"}, "pickup_points_country")],
)
def test_carrier_or_country_uses_its_index_without_a_sort(db, plan, filters, index):
    fill_pickup_points()

    found = plan_of(
        lambda: queries.list_pickup_points(cursor=Cursor(), **filters),
        f"plan_cache_mode = '{plan}'",
        "enable_sort = off",
    )

    assert f"Index Scan using {index} on" in found
    assert "Sort" not in found


def fill_pickup_points():
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO pickup_points (carrier, external_id, kind, name, address1, city, zip, normalised_zip,"
            " country_code, is_cod_supported, status, updated_at)"
            " SELECT 'dpd', i, 'point', '', '', '', '', lpad((i % 10000)::text, 5, '0'), 'DE', false, 'active', now()"
            " FROM generate_series(1, 20000) AS i"
        )


@st.composite
def worlds(draw):
    """Generate zones, each with the mode of its single method and that method's rates; markets are 0 and 1."""
    return [
        (
            draw(zones(markets=(None, 0, 1))),
            mode := draw(st.sampled_from(["tiered", "free"])),
            draw(
                st.lists(
                    rates(may_be_automatic=False, is_free=mode == "free"),
                    max_size=3,
                )
            ),
        )
        for _ in range(draw(st.integers(0, 4)))
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=parcels(markets=(None, 0, 1)), world=worlds())
def test_quote_agrees_with_matching_without_sql(shop, asked, world):
    with shop.scope(), transaction.atomic():
        markets = [shop.market, Market.objects.create(**SECOND_MARKET)]
        candidates = [stored(markets, *entry, number=number) for number, entry in enumerate(world)]
        asked = Parcel(**fields_of(asked) | {"market_id": market_id(markets, asked.market_id)})

        explained = explain(asked)
        answer = queries.quote(asked)

        transaction.set_rollback(True)
    expected = list_options(asked, [candidate.with_automatic_rate(asked) for candidate in candidates])
    assert [comparable(found) for found in answer] == [comparable(found) for found in expected]
    assert [comparable(offer.option) for offer in explained.offers] == [comparable(found) for found in answer]


SECOND_MARKET = {
    "handle": "second",
    "name": "Second",
    "currency": "CZK",
    "locale": "cs-CZ",
    "country_code": "CZ",
}


def stored(markets, zone, mode, method_rates, *, number):
    """Store one method with its rates in a new zone; return the same as plain data."""
    owner = ShippingZone.objects.create(
        handle=f"z{number}", name="Z", **fields_of(zone) | {"market_id": market_id(markets, zone.market_id)}
    )
    fields = {"handle": f"m{number}", "name": "M", "carrier": "dhl", "service_code": "eu", "rate_mode": mode}
    method = ShippingMethod.objects.create(zone=owner, **fields)
    rows = [
        ShippingRate.objects.create(method=method, **fields_of(rate) | {"id": None}) for rate in method_rates
    ]
    return Candidate(
        zone=type(zone)(zone.country_codes, zone.zip_patterns, owner.market_id),
        method=Method(id=method.pk, **fields),
        rates=[
            Rate(**fields_of(rate) | {"id": row.pk}) for rate, row in zip(method_rates, rows, strict=True)
        ],
    )


def comparable(found):
    rate_id = None if found.rate.is_automatic else found.rate.id
    return found.method, rate_id, found.rate.price_cents, found.rate.currency, found.is_best


def fields_of(plain):
    return {name: getattr(plain, name) for name in type(plain).__slots__}


def market_id(markets, number):
    return None if number is None else markets[number].pk
