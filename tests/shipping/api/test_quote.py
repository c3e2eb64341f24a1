"""POST shipping/quote.json."""

import pytest

from accounts.models import Market
from shipping.models import ShippingRate
from tests.factories import make_method, make_rate, make_zone

ASKED = {
    "country_code": "DE",
    "zip": "10115",
    "weight_grams": 1000,
    "subtotal_cents": 5000,
    "currency": "EUR",
}


def quoted(shop, **changes):
    """Return `(method id, rate id)` of each quote, in order."""
    quotes = shop.admin.post("shipping/quote.json", ASKED | changes).json()["quotes"]
    return [(int(option["method"]["id"]), int(option["rate_id"])) for option in quotes]


def rates_of(shop, method):
    with shop.scope():
        return list(ShippingRate.objects.filter(method=method).order_by("pk"))


def test_quote_answers_every_field(shop):
    method = make_method(
        shop,
        handle="parcel",
        name="Parcel",
        carrier="dhl",
        service_code="eu",
        requires_pickup_point=True,
        estimated_days_min=1,
        estimated_days_max=3,
        cod_fee_cents=150,
        carrier_config={"shop_id": "secret"},
    )
    rate = make_rate(shop, method=method, price_cents=490, display_name="Up to 5 kg", max_weight_grams=5000)

    response = shop.admin.post("shipping/quote.json", ASKED)

    assert response.status_code == 200
    assert response.json() == {
        "quotes": [
            {
                "method": {
                    "id": str(method.pk),
                    "handle": "parcel",
                    "name": "Parcel",
                    "carrier": "dhl",
                    "service_code": "eu",
                    "rate_mode": "tiered",
                    "requires_pickup_point": True,
                    "is_cod_compatible": True,
                    "estimated_days_min": 1,
                    "estimated_days_max": 3,
                    "cod_fee_cents": "150",
                },
                "rate_id": str(rate.pk),
                "price_cents": "490",
                "currency": "EUR",
                "is_free": False,
                "is_best": True,
                "display_name": "Up to 5 kg",
            }
        ]
    }


def test_quote_labels_a_rate_without_a_label_with_its_method(shop):
    make_rate(shop, method=make_method(shop, name="Parcel"), display_name=None)

    (option,) = shop.admin.post("shipping/quote.json", ASKED).json()["quotes"]

    assert option["display_name"] == "Parcel"


def test_quote_is_empty_when_nothing_matches(shop):
    make_rate(shop)

    response = shop.admin.post("shipping/quote.json", ASKED | {"country_code": "AT"})

    assert response.status_code == 200
    assert response.json() == {"quotes": []}


def test_quote_orders_by_price_then_method_then_most_specific(shop):
    zone = make_zone(shop)
    first, second = make_method(shop, zone=zone), make_method(shop, zone=zone)
    plain = make_rate(shop, method=first, price_cents=500)
    bounded = make_rate(shop, method=first, price_cents=500, max_weight_grams=2000)
    dear = make_rate(shop, method=first, price_cents=900)
    cheap = make_rate(shop, method=second, price_cents=400)
    equal = make_rate(shop, method=second, price_cents=500)

    quotes = shop.admin.post("shipping/quote.json", ASKED).json()["quotes"]

    assert [(int(option["rate_id"]), option["is_best"]) for option in quotes] == [
        (cheap.pk, True),
        (bounded.pk, True),
        (plain.pk, False),
        (equal.pk, False),
        (dear.pk, False),
    ]


def test_quote_takes_every_zone_that_covers_the_place(shop):
    zones = {
        "country": make_zone(shop, country_codes=["DE", "AT"]),
        "area": make_zone(shop, zip_patterns=["10*"]),
        "postcode": make_zone(shop, zip_patterns=["20095", "10115"]),
        "market": make_zone(shop, market=shop.market, zip_patterns=["1*"]),
        "elsewhere": make_zone(shop, zip_patterns=["2*"]),
    }
    prices = {"country": 700, "area": 500, "postcode": 600, "market": 500, "elsewhere": 1}
    for name, zone in zones.items():
        make_rate(shop, method=make_method(shop, zone=zone, handle=name), price_cents=prices[name])

    quotes = shop.admin.post("shipping/quote.json", ASKED | {"market_id": shop.market.pk}).json()["quotes"]

    assert [(quote["method"]["handle"], quote["price_cents"], quote["is_best"]) for quote in quotes] == [
        ("area", "500", True),
        ("market", "500", True),
        ("postcode", "600", True),
        ("country", "700", True),
    ]


@pytest.mark.parametrize("code", ["10115", "10 115", "10-115", "10999"])
def test_quote_matches_postcodes_of_the_zone(shop, code):
    rate = make_rate(shop, method=make_method(shop, zone=make_zone(shop, zip_patterns=["10-1*", "10999"])))

    assert quoted(shop, zip=code) == [(rate.method_id, rate.pk)]


@pytest.mark.parametrize("code", ["20095", "109990", "", None])
def test_quote_leaves_out_other_postcodes(shop, code):
    make_rate(shop, method=make_method(shop, zone=make_zone(shop, zip_patterns=["10-1*", "10999"])))

    assert quoted(shop, zip=code) == []


def test_quote_takes_zones_of_every_market_unless_one_is_named(shop):
    wide = make_rate(shop, price_cents=500)
    own = make_rate(shop, price_cents=600, method=make_method(shop, zone=make_zone(shop, market=shop.market)))
    austria = {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}
    with shop.scope():
        other = Market.objects.create(**austria)
    theirs = make_rate(shop, price_cents=700, method=make_method(shop, zone=make_zone(shop, market=other)))
    found = [(rate.method_id, rate.pk) for rate in (wide, own, theirs)]

    assert quoted(shop) == quoted(shop, market_id=None) == found
    assert quoted(shop, market_id=shop.market.pk) == found[:2]
    assert quoted(shop, market_id=other.pk) == [found[0], found[2]]


@pytest.mark.parametrize(
    ("bounds", "changes", "is_quoted"),
    [
        ({"max_weight_grams": 1000}, {}, True),
        ({"max_weight_grams": 999}, {}, False),
        ({"min_weight_grams": 1001}, {}, False),
        ({"min_subtotal_cents": 5000}, {}, True),
        ({"min_subtotal_cents": 5001}, {}, False),
        ({"max_subtotal_cents": 4999}, {}, False),
        ({"max_quantity": 1}, {}, True),
        ({"max_quantity": 1}, {"quantity": 2}, False),
        ({"min_quantity": 2}, {}, False),
        ({"min_quantity": 2}, {"quantity": 2}, True),
    ],
)
def test_quote_holds_rates_to_their_bounds(shop, bounds, changes, is_quoted):
    make_rate(shop, **bounds)

    assert bool(quoted(shop, **changes)) is is_quoted


def test_quote_leaves_out_other_currencies_deleted_rows_and_other_accounts(shop, other_shop):
    make_rate(other_shop)
    make_rate(shop, currency="CZK")
    gone_rate, gone_method = make_rate(shop), make_rate(shop)
    shop.admin.delete(f"shipping/rates/{gone_rate.pk}.json")
    shop.admin.delete(f"shipping/methods/{gone_method.method_id}.json")

    assert quoted(shop) == []


def test_quote_makes_a_rate_for_a_free_method_once_per_currency_and_stores_none(shop):
    method = make_method(shop, rate_mode="free", cod_fee_cents=100)

    response = shop.admin.post("shipping/quote.json", ASKED)
    again = shop.admin.post("shipping/quote.json", ASKED)
    in_crowns = shop.admin.post("shipping/quote.json", ASKED | {"currency": "CZK"})

    (option,) = response.json()["quotes"]
    assert (option["price_cents"], option["currency"], option["is_free"]) == ("0", "EUR", True)
    assert again.json() == response.json()
    (other,) = in_crowns.json()["quotes"]
    assert (other["price_cents"], other["currency"], other["is_free"]) == ("0", "CZK", True)
    assert other["rate_id"] != option["rate_id"]
    assert rates_of(shop, method) == []


def test_quote_makes_no_rate_for_a_free_method_elsewhere_or_with_rates(shop):
    elsewhere = make_method(shop, rate_mode="free", zone=make_zone(shop, zip_patterns=["2*"]))
    owner = make_rate(shop, method=make_method(shop, rate_mode="free"), price_cents=0, currency="CZK")

    assert quoted(shop) == []
    assert rates_of(shop, elsewhere) == []
    assert rates_of(shop, owner.method) == [owner]


def test_quote_offers_a_free_method_again_when_its_rate_was_deleted(shop):
    method = make_method(shop, rate_mode="free")
    ((_, rate_id),) = quoted(shop)
    rate = make_rate(shop, id=rate_id, method=method, price_cents=0, is_automatic=True)
    assert quoted(shop) == [(method.pk, rate_id)]

    assert shop.admin.delete(f"shipping/rates/{rate.pk}.json").status_code == 204

    assert quoted(shop) == [(method.pk, rate_id)]


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"country_code": "EU"}, "country_code", "unknown_country"),
        ({"country_code": None}, "country_code", "null"),
        ({"zip": 10115}, "zip", "invalid"),
        ({"zip": "1" * 33}, "zip", "max_length"),
        ({"zip": "1\x00"}, "zip", "null_characters_not_allowed"),
        ({"weight_grams": -1}, "weight_grams", "min_value"),
        ({"weight_grams": 1.5}, "weight_grams", "invalid"),
        ({"quantity": 0}, "quantity", "min_value"),
        ({"quantity": None}, "quantity", "null"),
        ({"subtotal_cents": 2**53}, "subtotal_cents", "max_value"),
        ({"currency": "XXX"}, "currency", "unknown_currency"),
        ({"market_id": 2**53 - 1}, "market_id", "not_found"),
        ({"market_id": []}, "market_id", "invalid"),
    ],
)
def test_quote_refuses_a_bad_field(shop, changes, field, code):
    response = shop.admin.post("shipping/quote.json", ASKED | changes)

    assert response.status_code == 422
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [(field, code)]


@pytest.mark.parametrize("field", ["country_code", "weight_grams", "subtotal_cents", "currency"])
def test_quote_requires_a_field(shop, field):
    body = {name: value for name, value in ASKED.items() if name != field}

    response = shop.admin.post("shipping/quote.json", body)

    assert response.status_code == 422
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [(field, "required")]


def test_quote_refuses_the_market_of_another_account(shop, other_shop):
    response = shop.admin.post("shipping/quote.json", ASKED | {"market_id": other_shop.market.pk})

    assert response.status_code == 422
    assert response.json()["errors"][0]["code"] == "not_found"


def test_quote_only_reads(shop):
    assert shop.client_with("read_shipping").post("shipping/quote.json", ASKED).status_code == 200
    assert shop.client_with("read_orders").post("shipping/quote.json", ASKED).status_code == 403
