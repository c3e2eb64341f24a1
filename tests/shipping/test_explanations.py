"""Explanations to staff of what is offered and what isn't."""

import pytest
from django.utils import timezone

from accounts.models import Market
from shipping import queries
from shipping.explanations import explain
from shipping.matching import Parcel
from shipping.models import ShippingRate
from tests.factories import make_method, make_rate, make_zone

AUSTRIA = {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}


def parcel(**fields):
    defaults = {
        "country_code": "DE",
        "zip": "10115",
        "weight_grams": 1200,
        "subtotal_cents": 2000,
        "quantity": 2,
    }
    return Parcel(**defaults | {"currency": "EUR"} | fields)


@pytest.mark.parametrize(
    ("fields", "asked", "reason"),
    [
        ({"currency": "USD"}, {}, "The price is in USD, not EUR."),
        ({"min_weight_grams": 5000}, {}, "From 5 kg; the parcel weighs 1.2 kg."),
        ({"max_weight_grams": 1000}, {}, "Up to 1 kg; the parcel weighs 1.2 kg."),
        ({"min_weight_grams": 1, "max_weight_grams": 2}, {}, "From 1 g to 2 g; the parcel weighs 1.2 kg."),
        ({"min_subtotal_cents": 5000}, {}, "From €50.00; the goods cost €20.00."),
        ({"max_subtotal_cents": 0}, {}, "Up to €0.00; the goods cost €20.00."),
        ({"min_quantity": 3}, {}, "From 3 items; the parcel has 2 items."),
        ({"max_quantity": 1}, {}, "Up to 1 item; the parcel has 2 items."),
    ],
)
def test_refused_rate_is_explained(shop, fields, asked, reason):
    with shop.scope():
        rate = make_rate(shop, **fields)

        explanation = explain(parcel(**asked))

    (refused,) = explanation.refused_rates
    assert (refused.zone, refused.method.id, refused.rate.id) == (rate.method.zone, rate.method_id, rate.pk)
    assert refused.reason == reason
    assert (explanation.offers, explanation.refused_zones) == ([], [])


def test_method_without_rates_is_explained(shop):
    with shop.scope():
        make_method(shop)

        (refused,) = explain(parcel()).refused_rates

    assert (refused.rate, refused.reason) == (None, "The method has no rates.")


def test_rate_that_a_quote_made_is_explained_beside_an_own_one(shop):
    with shop.scope():
        method = make_method(shop, rate_mode="free")
        make_rate(shop, method=method, price_cents=0, is_automatic=True)
        own = make_rate(shop, method=method, price_cents=0, min_quantity=2)

        explanation = explain(parcel())

    assert [offer.option.rate.id for offer in explanation.offers] == [own.pk]
    assert [refused.reason for refused in explanation.refused_rates] == [
        "The rate was created automatically, and the method now has rates of its own."
    ]


@pytest.mark.parametrize(
    ("fields", "asked", "reason"),
    [
        ({"country_codes": ["AT"]}, {}, "The zone doesn't cover DE."),
        ({"zip_patterns": ["2*"]}, {}, "None of the zone's patterns matches 10115."),
        (
            {"zip_patterns": ["1*"]},
            {"zip": ""},
            "The zone covers only some postcodes, and no postcode was given.",
        ),
    ],
)
def test_zone_that_does_not_cover_the_address_is_explained(shop, fields, asked, reason):
    with shop.scope():
        zone = make_zone(shop, **fields)
        make_rate(shop, method=make_method(shop, zone=zone))
        make_method(shop, zone=zone)

        explanation = explain(parcel(**asked))

    (refused,) = explanation.refused_zones
    assert (refused.zone, refused.method_count, refused.reason) == (zone, 2, reason)
    assert (explanation.offers, explanation.refused_rates) == ([], [])


def test_zone_of_another_market_is_explained(shop):
    with shop.scope():
        make_rate(shop, method=make_method(shop, zone=make_zone(shop, market=shop.market)))
        other = Market.objects.create(**AUSTRIA)

        (refused,) = explain(parcel(market_id=other.pk)).refused_zones

    assert refused.reason == "The zone is only for the market Germany."


def test_zone_without_methods_is_explained(shop):
    with shop.scope():
        make_zone(shop)

        (refused,) = explain(parcel()).refused_zones

    assert (refused.method_count, refused.reason) == (0, "The zone covers the address, but has no methods.")


def test_closest_zones_and_methods_without_any_offer_come_first(shop):
    with shop.scope():
        zone = make_zone(shop)
        partly = make_method(shop, zone=zone)
        make_rate(shop, method=partly)
        make_rate(shop, method=partly, currency="USD")
        never = make_rate(shop, method=make_method(shop, zone=zone), currency="USD").method
        far, near = (
            make_zone(shop, name="A", country_codes=["AT"]),
            make_zone(shop, name="B", zip_patterns=["2*"]),
        )

        explanation = explain(parcel())

    assert [refused.method.id for refused in explanation.refused_rates] == [never.pk, partly.pk]
    assert [refused.zone for refused in explanation.refused_zones] == [near, far]


def test_free_method_is_offered_without_a_rate_being_made(shop):
    with shop.scope():
        method = make_method(shop, rate_mode="free")

        (offer,) = explain(parcel()).offers

        assert (offer.option.method.id, offer.option.rate.price_cents) == (method.pk, 0)
        assert not ShippingRate.objects.exists()


def test_offers_are_those_of_the_quote(shop, other_shop):
    with shop.scope():
        rate = make_rate(shop)
        make_rate(shop, method=rate.method, price_cents=100)
        make_rate(shop, deleted_at=timezone.now())
    make_rate(other_shop)

    with shop.scope():
        explanation = explain(parcel())

        assert [offer.option for offer in explanation.offers] == queries.quote(parcel())
    assert [refused.reason for refused in explanation.refused_rates] == ["The method has no rates."]


@pytest.mark.parametrize("number", [1, 30])
def test_explanation_takes_two_statements(shop, django_assert_num_queries, number):
    with shop.scope():
        for _ in range(number):
            make_rate(shop)
            make_zone(shop, market=shop.market)
        other = Market.objects.create(**AUSTRIA)

        with django_assert_num_queries(2):
            explanation = explain(parcel(market_id=other.pk))

    assert (len(explanation.offers), len(explanation.refused_zones)) == (number, number)
