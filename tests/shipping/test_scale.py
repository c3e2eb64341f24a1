"""A quote for an account of 200 zones, 1,000 methods and 5,000 rates takes as many statements as for a small one."""

from shipping import queries
from shipping.matching import Parcel
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from tests.factories import make_variant
from tests.plans import plan_of
from tests.storefront import checkout_in

ASKED = {
    "country_code": "DE",
    "zip": "10115",
    "weight_grams": 1400,
    "quantity": 2,
    "subtotal_cents": 4000,
    "currency": "EUR",
}
ZONES, METHODS_A_ZONE, RATES_A_METHOD = 200, 5, 5


def fill(shop):
    """Create zones of 50 postcodes each, one of which has the requested one, and a rate for every kilogram."""
    with shop.scope():
        zones = ShippingZone.objects.bulk_create(
            ShippingZone(handle=f"z{area}", name="Z", country_codes=["DE"], zip_patterns=postcodes_of(area))
            for area in range(ZONES)
        )
        methods = ShippingMethod.objects.bulk_create(
            ShippingMethod(
                zone=zone,
                handle=f"m{zone.pk}-{number}",
                name="M",
                carrier="dhl",
                service_code="parcel",
                rate_mode="tiered",
            )
            for zone in zones
            for number in range(METHODS_A_ZONE)
        )
        ShippingRate.objects.bulk_create(
            ShippingRate(
                method=method,
                price_cents=300 + kilograms,
                currency="EUR",
                min_weight_grams=1000 * kilograms,
                max_weight_grams=1000 * kilograms + 999,
            )
            for method in methods
            for kilograms in range(RATES_A_METHOD)
        )


def postcodes_of(area):
    """Postcodes of zone 20 begin with 101, and with `10 1*` for one of them."""
    return [f"{81 + area:03d}{number:02d}" for number in range(49)] + [
        f"{(81 + area) // 10:02d} {(81 + area) % 10}*"
    ]


def test_quote_of_a_large_account_takes_one_statement(shop, django_assert_num_queries):
    fill(shop)
    shop.admin.get("shipping/zones.json")

    # Besides the quote: the scope's setting, and in a test's own transaction a savepoint, its end, and the reset.
    with django_assert_num_queries(5):
        quotes = shop.admin.post("shipping/quote.json", ASKED).json()["quotes"]

    assert [quote["price_cents"] for quote in quotes] == ["301"] * METHODS_A_ZONE


def test_quote_of_a_checkout_in_a_large_account_takes_three_statements(shop, django_assert_num_queries):
    checkout = checkout_in("address", shop, (make_variant(shop, price_cents=2000, weight_grams=700), 2))
    fill(shop)

    # The checkout with its lines in one message, the quote, and the four as above.
    with django_assert_num_queries(6):
        quotes = shop.storefront.get(f"checkouts/{checkout['token']}/shipping_quote.json").json()["quotes"]

    assert [quote["price_cents"] for quote in quotes] == ["301"] * METHODS_A_ZONE + ["490"]


def test_quote_reads_by_indexes(shop):
    fill(shop)

    with shop.scope():
        # If nearly all rows are one account's, reading all of them is right. This tests that it isn't necessary.
        plan = plan_of(lambda: queries.quote(Parcel(**ASKED)), "enable_seqscan = off")

    assert "Seq Scan" not in plan
    assert plan.count("account_id = ") >= 3
