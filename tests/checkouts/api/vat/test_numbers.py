"""PUT checkouts/{token}/vat.json: which numbers are taken, and when VIES is asked."""

import pytest

from tests import factories
from tests.checkouts.api.vat.steps import (
    AUSTRIAN,
    CLEARED,
    GERMAN,
    VIENNA,
    get,
    put,
    put_address,
    sell_from,
    without_time,
)
from tests.storefront import ADDRESS, checkout_in, enter_checkout
from tests.vies import INVALID


def test_valid_number_takes_the_tax_out(czech, checkout, vies):
    answer = put(czech, checkout)

    assert answer.status_code == 200
    shown = answer.json()["checkout"]
    assert shown["vat"] == {
        "validated_at": shown["vat"]["validated_at"],
        "country_code": "AT",
        "number": "U57194903",
        "status": "valid",
        "reverse_charge": True,
        "name": "Hut & Söhne GmbH",
    }
    assert shown["vat"]["validated_at"].endswith("Z")
    assert shown["phase"] == "shipping"
    assert shown["totals"] == checkout["totals"] | {
        "subtotal_with_tax_cents": "2839",
        "subtotal_without_tax_cents": "2839",
        "shipping_cents": "412",
        "shipping_tax_cents": "0",
        "tax_cents": "0",
        "total_cents": "3251",
        "amount_due_cents": "3251",
    }
    book = shown["line_items"][0]
    assert book == checkout["line_items"][0] | {
        "tax_rate_bp": 0,
        "unit_price_with_tax_cents": "1000",
        "unit_price_without_tax_cents": "1000",
        "line_total_with_tax_cents": "2000",
        "line_total_without_tax_cents": "2000",
        "line_tax_cents": "0",
    }
    assert without_time(get(czech, checkout)) == without_time(answer.json()["checkout"])


def test_net_market_charges_no_tax_upon_its_prices(make_shop, vies):
    shop = make_shop(prices_include_tax=False)
    sell_from(shop, "CZ25123891")
    factories.make_tax_rate(shop)
    rate = factories.make_rate(shop, price_cents=490)
    variant = factories.make_variant(shop, price_cents=1190)
    checkout = checkout_in("shipping", shop, (variant, 2), rate=rate)

    totals = put(shop, checkout).json()["checkout"]["totals"]

    assert checkout["totals"]["total_cents"] == str(2380 + 452 + 490 + 93)
    assert totals == checkout["totals"] | {
        "subtotal_with_tax_cents": "2380",
        "shipping_tax_cents": "0",
        "tax_cents": "0",
        "total_cents": "2870",
        "amount_due_cents": "2870",
    }


@pytest.mark.parametrize("body", [CLEARED, {"vat_number": None}, {"vat_number": "  "}])
def test_empty_number_clears_it_without_a_call(czech, checkout, vies, body):
    put(czech, checkout)

    answer = put(czech, checkout, body)

    assert answer.status_code == 200
    assert without_time(answer.json()["checkout"]) == without_time(checkout)
    assert len(vies.questions) == 1


def test_number_that_vies_does_not_know_is_taxed(czech, checkout, vies):
    vies.stands_for["U57194903"] = INVALID

    shown = put(czech, checkout).json()["checkout"]

    assert (shown["vat"]["status"], shown["vat"]["reverse_charge"]) == ("invalid", False)
    assert shown["vat"]["name"] is None
    assert shown["totals"] == checkout["totals"]
    assert shown["line_items"] == checkout["line_items"]


@pytest.mark.parametrize("failure", ["201", "301", "302", "600"])
def test_number_is_taxed_while_vies_gives_no_answer(czech, checkout, vies, failure):
    vies.stands_for["U57194903"] = failure

    answer = put(czech, checkout)

    assert answer.status_code == 200
    shown = answer.json()["checkout"]
    assert shown["vat"] == {
        "country_code": "AT",
        "number": "U57194903",
        "status": "unavailable",
        "reverse_charge": False,
        "name": None,
        "validated_at": None,
    }
    assert shown["totals"] == checkout["totals"]


def test_number_is_taxed_where_no_vies_is_reached(czech, checkout):
    answer = put(czech, checkout)

    assert (answer.status_code, answer.json()["checkout"]["vat"]["status"]) == (200, "unavailable")


def test_number_sent_again_after_a_failure_is_asked_for_again(czech, checkout, vies):
    vies.stands_for["U57194903"] = "301"
    put(czech, checkout)
    vies.stands_for.clear()

    shown = put(czech, checkout).json()["checkout"]

    assert (shown["vat"]["status"], shown["totals"]["tax_cents"]) == ("valid", "0")


def test_number_is_asked_for_once_for_two_shops(czech, checkout, other_shop, vies):
    rate = factories.make_rate(other_shop)
    theirs = checkout_in("shipping", other_shop, (factories.make_variant(other_shop), 1), rate=rate)

    first, second = put(czech, checkout), put(other_shop, theirs)

    assert first.json()["checkout"]["vat"]["reverse_charge"] is True
    assert second.json()["checkout"]["vat"] == first.json()["checkout"]["vat"] | {"reverse_charge": False}
    assert len(vies.questions) == 1


@pytest.mark.parametrize("seller", [None, "DE136695976", "ATU57194903", "GB432525179", "CHE123456788MWST"])
def test_seller_decides_too(czech, checkout, vies, seller):
    """The goods go to Germany, the buyer is Austrian."""
    sell_from(czech, seller)

    shown = put(czech, checkout).json()["checkout"]

    assert (shown["vat"]["status"], shown["vat"]["reverse_charge"]) == ("valid", False)
    assert shown["totals"] == checkout["totals"]


def test_greek_buyer_and_northern_irish_one(czech, checkout, vies):
    greek = put(czech, checkout, {"vat_country_code": "EL", "vat_number": "094259216"})
    irish = put(czech, checkout, {"vat_country_code": "XI", "vat_number": "432525179"})

    greek_vat, irish_vat = (answer.json()["checkout"]["vat"] for answer in (greek, irish))
    assert (greek_vat["country_code"], greek_vat["reverse_charge"]) == ("GR", True)
    assert (irish_vat["country_code"], irish_vat["status"], irish_vat["reverse_charge"]) == (
        "XI",
        "valid",
        False,
    )
    assert [question["countryCode"] for question in vies.questions] == ["EL", "XI"]


def test_destination_decides_when_it_becomes_known(czech, vies):
    sell_from(czech, "ATU57194903")
    checkout = enter_checkout(czech, (factories.make_variant(czech, price_cents=1190), 1))

    pending = put(czech, checkout, GERMAN).json()["checkout"]
    abroad = put_address(czech, checkout, ADDRESS)
    at_home = put_address(czech, checkout, VIENNA)
    outside = put_address(czech, checkout, VIENNA | {"country_code": "CH"})
    abroad_again = put_address(czech, checkout, ADDRESS)

    shown = [
        (c["vat"]["reverse_charge"], c["totals"]["total_cents"], c["line_items"][0]["line_tax_cents"])
        for c in (pending, abroad, at_home, outside, abroad_again)
    ]
    taxed, untaxed = (False, "1190", "190"), (True, "1000", "0")
    assert shown == [taxed, untaxed, taxed, taxed, untaxed]
    assert len(vies.questions) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (AUSTRIAN | {"vat_number": "U57194904"}, "vat_number"),
        (GERMAN | {"vat_number": "12"}, "vat_number"),
        (AUSTRIAN | {"vat_country_code": "DE"}, "vat_number"),
        (AUSTRIAN | {"vat_country_code": "US"}, "vat_country_code"),
    ],
)
def test_number_of_a_wrong_form_is_refused_without_a_call(czech, checkout, vies, body, field):
    answer = put(czech, checkout, body)

    assert (answer.status_code, answer.json()["code"]) == (422, "vat_number_invalid")
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert vies.questions == []
    assert get(czech, checkout) == checkout


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "vat_number"),
        ({"vat_number": "U57194903"}, "vat_country_code"),
        (AUSTRIAN | {"vat_country_code": None}, "vat_country_code"),
        (AUSTRIAN | {"vat_country_code": "AUT"}, "vat_country_code"),
        (AUSTRIAN | {"vat_number": 57194903}, "vat_number"),
        (AUSTRIAN | {"vat_number": "1" * 33}, "vat_number"),
        (AUSTRIAN | {"vat_number": "\x00"}, "vat_number"),
    ],
)
def test_body_of_a_wrong_form_is_refused(czech, checkout, vies, body, field):
    answer = put(czech, checkout, body)

    assert (answer.status_code, answer.json()["code"]) == (422, "validation_failed")
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert vies.questions == []
    assert get(czech, checkout) == checkout


@pytest.mark.parametrize("phase", ["pending", "address", "shipping"])
def test_number_is_taken_up_to_the_choice_of_shipping(czech, rate, vies, phase):
    checkout = checkout_in(phase, czech, (factories.make_variant(czech), 1), rate=rate)

    answer = put(czech, checkout)

    assert (answer.status_code, answer.json()["checkout"]["phase"]) == (200, phase)


@pytest.mark.parametrize("phase", ["payment", "processing", "ready", "completed"])
def test_number_is_refused_later_without_a_call(czech, rate, vies, phase):
    checkout = checkout_in(phase, czech, (factories.make_variant(czech), 1), rate=rate)

    answer = put(czech, checkout)

    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_phase")
    assert answer.json()["allowed"] == ["pending", "address", "shipping"]
    assert vies.questions == []
    assert get(czech, checkout) == checkout


def test_foreign_and_unknown_checkouts_are_not_found_without_a_call(shop, other_shop, vies):
    theirs = enter_checkout(other_shop, (factories.make_variant(other_shop), 1))

    assert put(shop, theirs).status_code == put(shop, {"token": "nothing"}).status_code == 404
    assert vies.questions == []


@pytest.mark.parametrize("lines", [1, 20])
def test_number_takes_a_fixed_number_of_statements(czech, rate, vies, django_assert_num_queries, lines):
    variants = [factories.make_variant(czech) for _ in range(lines)]
    checkout = checkout_in("shipping", czech, *((variant, 1) for variant in variants), rate=rate)

    # Two scopes, of four statements each in a test: the checkout; then checkout with lines, update.
    with django_assert_num_queries(4 + 1 + 4 + 2):
        answer = put(czech, checkout)

    assert answer.json()["checkout"]["vat"]["reverse_charge"] is True
