"""PUT checkouts/{token}/vat.json."""

import pytest

from accounts.models import Account
from commerce.orders.models import OrderLineItem
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.checkouts.reconciliation.command import found
from tests.storefront import ADDRESS, checkout_in, enter_checkout, take_step
from tests.vies import INVALID

AUSTRIAN = {"vat_country_code": "AT", "vat_number": "U57194903"}
GERMAN = {"vat_country_code": "DE", "vat_number": "136695976"}
CLEARED = {"vat_country_code": "", "vat_number": ""}
VIENNA = {"address1": "Hauptstraße 2", "city": "Wien", "zip": "1010", "country_code": "AT"}


def put(shop, checkout, body=AUSTRIAN):
    return shop.storefront.put(f"checkouts/{checkout['token']}/vat.json", body)


def put_address(shop, checkout, address):
    body = {"shipping_address": address, "same_as_shipping": True}
    return shop.storefront.put(f"checkouts/{checkout['token']}/address.json", body).json()["checkout"]


def get(shop, checkout):
    return shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"]


def without_time(checkout):
    return {name: value for name, value in checkout.items() if name != "updated_at"}


def sell_from(shop, vat_number):
    with shop.scope():
        Account.objects.filter(pk=shop.id).update(vat_number=vat_number)


@pytest.fixture
def czech(shop):
    """The shop with a Czech VAT number, whose goods are taxed at 19 %."""
    sell_from(shop, "CZ25123891")
    factories.make_tax_rate(shop)
    return shop


@pytest.fixture
def rate(czech):
    """A shipping rate of 4.90, with 1.50 for cash on delivery."""
    return factories.make_rate(
        czech,
        price_cents=490,
        method=factories.make_method(czech, cod_fee_cents=150, is_cod_compatible=True),
    )


@pytest.fixture
def checkout(czech, rate):
    """A checkout of two books at 11.90 and three pens at 3.33, sent to Berlin, as in docs/pricing.md."""
    book, pen = (factories.make_variant(czech, price_cents=price) for price in (1190, 333))
    return checkout_in("shipping", czech, (book, 2), (pen, 3), rate=rate)


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


def test_quote_is_the_same_with_and_without_tax(czech, checkout, vies):
    """Shipping thresholds are compared with the prices that the shop shows."""
    factories.make_rate(czech, price_cents=0, min_subtotal_cents=3379)
    path = f"checkouts/{checkout['token']}/shipping_quote.json"
    before = czech.storefront.get(path).json()

    put(czech, checkout)

    assert len(before["quotes"]) == 2
    assert czech.storefront.get(path).json() == before


def test_shipping_chosen_afterwards_is_untaxed_too(czech, rate, vies):
    checkout = checkout_in("address", czech, (factories.make_variant(czech, price_cents=1190), 1), rate=rate)
    put(czech, checkout)

    totals = take_step("shipping", czech, checkout["token"], rate=rate)["totals"]

    assert (totals["shipping_cents"], totals["tax_cents"], totals["total_cents"]) == ("412", "0", "1412")


@pytest.fixture
def completed(czech, rate, checkout, vies):
    """Complete a checkout under the reverse charge, with cash on delivery."""
    put(czech, checkout)
    for step in ("payment", "processing", "ready", "completed"):
        done = take_step(step, czech, checkout["token"], rate=rate)
    return done


def test_order_has_the_prices_that_were_charged(czech, completed):
    order = czech.storefront.get(f"orders/{completed['order_token']}.json").json()["order"]

    assert order["vat"] == completed["vat"]
    assert order["vat"]["reverse_charge"] is True
    assert order["totals"] == completed["totals"]
    assert (order["totals"]["cod_fee_cents"], order["totals"]["total_cents"]) == ("126", "3377")
    prices = [
        {name: value for name, value in line.items() if name != "id"} for line in completed["line_items"]
    ]
    assert [{name: line[name] for name in prices[0]} for line in order["line_items"]] == prices
    with czech.scope():
        lines = OrderLineItem.objects.order_by("position").values_list(
            "tax_rate_bp",
            "unit_price_with_tax_cents",
            "unit_price_without_tax_cents",
            "line_total_with_tax_cents",
            "line_total_without_tax_cents",
            "line_tax_cents",
        )
        assert list(lines) == [(0, 1000, 1000, 2000, 2000, 0), (0, 280, 280, 839, 839, 0)]


def test_confirmation_tells_of_the_reverse_charge(czech, completed):
    with czech.scope():
        order = OutboxDispatch.objects.get().payload["ctx"]["order"]

    assert order["vat"] == {"number": "ATU57194903", "reverse_charge": True}
    assert [line["line_total_with_tax_cents"] for line in order["line_items"]] == ["2000", "839"]


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

    # Two scopes, of four statements each in a test: the checkout; then checkout, lines, rules, update.
    with django_assert_num_queries(4 + 1 + 4 + 4):
        answer = put(czech, checkout)

    assert answer.json()["checkout"]["vat"]["reverse_charge"] is True


def test_discounts_and_gift_cards_follow_the_prices_that_are_charged(czech, checkout, vies):
    factories.make_discount(czech, code="HALF", value_amount=5000, minimum_order_subtotal_cents=3379)
    card = factories.make_voucher(czech, 5000)
    path = f"checkouts/{checkout['token']}/discount.json"
    czech.storefront.post(path, {"code": "HALF"})
    taxed = czech.storefront.post(path, {"code": card.code}).json()["checkout"]

    untaxed = put(czech, checkout).json()["checkout"]
    cleared = put(czech, checkout, CLEARED).json()["checkout"]

    assert taxed["totals"]["discount_cents"] == "1690"
    assert (taxed["totals"]["gift_card_cents"], taxed["totals"]["amount_due_cents"]) == ("2179", "0")
    assert [entry["amount_cents"] for entry in untaxed["discount_codes"]] == ["1420", "1831"]
    assert untaxed["totals"]["total_cents"] == str(2839 - 1420 + 412)
    assert (untaxed["totals"]["gift_card_cents"], untaxed["totals"]["tax_cents"]) == ("1831", "0")
    assert without_time(cleared) == without_time(taxed)


@pytest.mark.parametrize(("price_cents", "quantity"), [(10, 2), (1, 1000)])
def test_free_units_cost_nothing_under_the_reverse_charge(czech, vies, price_cents, quantity):
    book, pen = (
        factories.make_variant(czech, price_cents=price, stock=None, track_inventory=False)
        for price in (1000, price_cents)
    )
    config = {
        "buy": {"quantity": 1, "variant_ids": [book.pk]},
        "get": {"quantity": quantity, "variant_ids": [pen.pk]},
        "value_mode": "free",
    }
    factories.make_discount(czech, type="buy_x_get_y", value_mode=None, value_amount=None, bogo_config=config)
    entered = enter_checkout(czech, (book, 1), (pen, quantity))
    put_address(czech, entered, ADDRESS)

    shown = put(czech, entered).json()["checkout"]

    assert shown["vat"]["reverse_charge"] is True
    book_line, pen_line = shown["line_items"]
    assert shown["totals"]["discount_cents"] == pen_line["line_total_with_tax_cents"]
    assert shown["totals"]["total_cents"] == book_line["line_total_with_tax_cents"]


def enter_code(shop, checkout):
    factories.make_discount(shop, code="SMALL")
    answer = shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": "SMALL"})
    assert answer.status_code == 200, answer.content
    return answer.json()["checkout"]


@pytest.mark.parametrize("step", ["shipping", "payment", "code"])
def test_seller_who_loses_the_number_charges_tax_from_the_next_step_on(czech, rate, checkout, vies, step):
    assert put(czech, checkout).json()["checkout"]["vat"]["reverse_charge"] is True
    sell_from(czech, None)

    if step == "code":
        shown = enter_code(czech, checkout)
    else:
        shown = take_step(step, czech, checkout["token"], rate=rate, payment_method="bank_transfer")

    assert (shown["vat"]["status"], shown["vat"]["reverse_charge"]) == ("valid", False)
    if step != "code":
        assert shown["totals"] == checkout["totals"]
    assert int(shown["totals"]["tax_cents"]) > 0
    assert without_time(get(czech, checkout)) == without_time(shown)
    assert found(czech) == []


def test_seller_who_gets_a_number_charges_none_from_the_next_step_on(czech, rate, checkout, vies):
    sell_from(czech, None)
    assert put(czech, checkout).json()["checkout"]["vat"]["reverse_charge"] is False
    sell_from(czech, "CZ25123891")

    shown = take_step("payment", czech, checkout["token"], rate=rate)

    assert (shown["vat"]["reverse_charge"], shown["totals"]["tax_cents"]) == (True, "0")


def test_frozen_totals_outlive_the_number_of_the_seller(czech, rate, checkout, vies):
    put(czech, checkout)
    frozen = take_step("payment", czech, checkout["token"], rate=rate)
    sell_from(czech, None)

    for step in ("payment", "processing", "ready", "completed"):
        shown = take_step(step, czech, checkout["token"], rate=rate)

    assert shown["vat"]["reverse_charge"] is True
    assert shown["totals"] == frozen["totals"]
    assert found(czech) == []
