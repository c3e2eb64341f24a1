"""Amounts, percentages, weights and times on pages: in the row's currency, the browser's locale and the shop's time zone."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from accounts.models import Account
from commerce.catalog.models import VariantPricing
from commerce.taxes.models import TaxRate
from discounts.models import Discount
from shipping.models import ShippingMethod, ShippingRate
from tests import factories
from tests.backoffice.clients import filled
from tests.backoffice.stale import errors_of, path_of, set_meanwhile, stored

TIERS = {"scope": "line", "tiers": [{"min_quantity": 2, "value_mode": "fixed_amount", "value_amount": 150}]}


@pytest.fixture
def german(shop, staff_of):
    return staff_of(shop, headers={"accept-language": "de-DE,de;q=0.9,en;q=0.5"})


@pytest.fixture
def rate(shop):
    return factories.make_rate(shop, price_cents=1990, currency="EUR", max_weight_grams=1500)


def errors_of_row(answer):
    return answer.context["inline_admin_formsets"][0].formset.errors[0]


def send(client, path, **changes):
    """Send a page with some fields changed."""
    data = filled(client.get(path)) | changes
    return client.post(path, {name: value for name, value in data.items() if value is not None})


@pytest.mark.parametrize(
    ("currency", "text", "cents"),
    [("EUR", "12,50", 1250), ("EUR", "1 234,50 €", 123_450), ("JPY", "1,250", 1250), ("KWD", "1.25", 1250)],
)
def test_amount_is_read_in_the_currency_of_its_row(shop, owner, rate, currency, text, cents):
    answer = send(owner, path_of(rate.method), **{"rates-0-currency": currency, "rates-0-price_cents": text})

    assert answer.status_code == 302
    assert stored(shop, rate, "price_cents", "currency") == {"price_cents": cents, "currency": currency}


def test_amount_is_refused_where_its_new_currency_has_fewer_decimals(shop, owner, rate):
    answer = send(owner, path_of(rate.method), **{"rates-0-currency": "JPY"})

    assert errors_of_row(answer) == {"price_cents": ["Amounts in JPY have no decimals."]}
    assert stored(shop, rate, "price_cents", "currency") == {"price_cents": 1990, "currency": "EUR"}


def test_amount_means_the_same_where_its_new_currency_has_more_decimals(shop, owner, rate):
    send(owner, path_of(rate.method), **{"rates-0-currency": "KWD"})

    assert stored(shop, rate, "price_cents", "currency") == {"price_cents": 19_900, "currency": "KWD"}


def test_amount_that_somebody_else_put_into_another_currency_is_shown_in_that(shop, owner, rate):
    sent = filled(owner.get(path_of(rate.method)))
    set_meanwhile(shop, rate, currency="JPY", price_cents=300)

    refused = owner.post(path_of(rate.method), sent | {"handle": "No handle"})

    assert filled(refused)["rates-0-price_cents"] == "300"
    assert filled(refused)["rates-0-currency"] == "JPY"


def test_german_browser_shows_and_sends_german_numbers(shop, german, rate):
    page = german.get(path_of(rate.method)).content.decode()
    answer = send(
        german,
        path_of(rate.method),
        **{"rates-0-price_cents": "1.250,75", "rates-0-max_weight_grams": "2,5 kg"},
    )

    assert 'value="19,90"' in page
    assert 'value="1,5 kg"' in page
    assert answer.status_code == 302
    expected = {"price_cents": 125_075, "max_weight_grams": 2500}
    assert stored(shop, rate, *expected) == expected


def test_lists_and_read_only_pages_show_measures(shop, support, german, rate):
    factories.make_discount(shop, code="TEN", value_amount=750)
    row = factories.make_tax_rate(shop, 1950)

    texts = [
        support.get("taxes/taxrate/").text,
        support.get(path_of(row)).text,
        support.get(path_of(rate.method)).text,
        support.get("discounts/discount/").text,
    ]

    assert ["19.5 %" in texts[0], "19.5 %" in texts[1], "€19.90" in texts[2], "7.5 %" in texts[3]] == [
        True
    ] * 4
    assert "19,5 %" in german.get("taxes/taxrate/").text


@pytest.mark.parametrize(("text", "bp"), [("19", 1900), ("7,5 %", 750), ("0.01%", 1)])
def test_percentage_is_read(shop, owner, text, bp):
    row = factories.make_tax_rate(shop, 2100)

    send(owner, path_of(row), rate_bp=text)

    with shop.scope():
        assert TaxRate.objects.get().rate_bp == bp


def test_value_of_a_discount_is_read_by_its_mode(shop, owner):
    discount = factories.make_discount(shop, value_mode="percentage", value_amount=1000)

    shown = filled(owner.get(path_of(discount)))
    send(owner, path_of(discount), value_mode="fixed_amount", currency="JPY", value_amount="500")

    assert shown["value_amount"] == "10 %"
    assert stored(shop, discount, "value_amount", "currency") == {"value_amount": 500, "currency": "JPY"}


def test_value_of_a_discount_names_its_bound_as_a_percentage(shop, owner):
    discount = factories.make_discount(shop, value_mode="percentage", value_amount=1000)

    answer = send(owner, path_of(discount), value_amount="150")

    assert errors_of(answer) == {"value_amount": ["Must be at most 100 %."]}


def test_amounts_of_tiers_are_in_the_currency_of_the_discount(shop, owner):
    discount = factories.make_discount(
        shop,
        type="bulk_pricing",
        code=None,
        currency="EUR",
        value_mode=None,
        value_amount=None,
        bulk_tiers=TIERS,
    )

    shown = filled(owner.get(path_of(discount)))
    left = send(owner, path_of(discount))
    before = stored(shop, discount, "bulk_tiers")
    refused = send(owner, path_of(discount), currency="JPY")
    changed = send(owner, path_of(discount), currency="KWD")

    assert shown["bulk_tiers_3"] == "1.50"
    assert (left.status_code, before["bulk_tiers"]) == (302, TIERS)
    assert errors_of(refused) == {"bulk_tiers": ["Percentage or amount: Amounts in JPY have no decimals."]}
    assert changed.status_code == 302
    with shop.scope():
        assert Discount.objects.get().bulk_tiers["tiers"][0]["value_amount"] == 1500


def test_minimum_without_a_currency_is_in_the_one_that_saving_chooses(shop, owner):
    shop_currency = shop.market.currency
    discount = factories.make_discount(shop, value_mode="percentage", value_amount=1000)

    send(owner, path_of(discount), minimum_order_subtotal_cents="49,90")

    expected = {"minimum_order_subtotal_cents": 4990, "currency": shop_currency}
    assert stored(shop, discount, *expected) == expected


def test_fee_of_a_method_is_in_the_currency_of_its_rates(shop, owner):
    method = factories.make_rate(shop, price_cents=500, currency="JPY").method

    send(owner, path_of(method), cod_fee_cents="300")

    with shop.scope():
        assert ShippingMethod.objects.get().cod_fee_cents == 300
        assert ShippingRate.objects.get().price_cents == 500


def test_price_without_a_currency_is_read_in_the_markets(shop, owner):
    variant = factories.make_variant(shop, price_cents=None)
    with shop.scope():
        type(shop.market).objects.update(currency="JPY")

    fields = {"pricing-TOTAL_FORMS": 1, "pricing-0-market": shop.market.pk, "pricing-0-price_cents": "1,980"}
    send(owner, path_of(variant), **fields)

    with shop.scope():
        price = VariantPricing.objects.get()
    assert (price.currency, price.price_cents) == ("JPY", 1980)


def in_prague(shop):
    with shop.scope():
        Account.objects.filter(pk=shop.id).update(default_timezone="Europe/Prague")


def test_times_are_shown_and_read_in_the_shops_time_zone(shop, owner):
    in_prague(shop)
    discount = factories.make_discount(shop, code="TEN", starts_at=datetime(2026, 7, 1, 10, tzinfo=UTC))

    listed = owner.get("discounts/discount/").text
    shown = filled_in(owner.get(path_of(discount)).text)
    # The inputs are read from the page's form, here in the time zone that the page was made in.
    with timezone.override("Europe/Prague"):
        send(owner, path_of(discount), ends_at_0="2026-12-24", ends_at_1="18:00")

    assert "1 Jul 2026, 12:00" in listed
    assert "12:00:00" in shown
    expected = {
        "starts_at": datetime(2026, 7, 1, 10, tzinfo=UTC),
        "ends_at": datetime(2026, 12, 24, 17, tzinfo=UTC),
    }
    assert stored(shop, discount, *expected) == expected


def filled_in(text):
    """Return the part of a page that has the inputs of the start."""
    return text.partition('name="starts_at_0"')[2].partition('name="ends_at_0"')[0]


def test_time_that_happens_twice_stays_as_it_is_where_nobody_edits_it(shop, owner):
    in_prague(shop)
    # The hour after two in the morning is repeated on that night.
    twice = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    discount = factories.make_discount(shop, starts_at=twice)

    with timezone.override("Europe/Prague"):
        answer = send(owner, path_of(discount), title="Edited")

    assert answer.status_code == 302, errors_of(answer)
    assert stored(shop, discount, "title", "starts_at") == {"title": "Edited", "starts_at": twice}
