"""What is charged under the reverse charge, also by the order and if the seller's own number changes."""

import pytest

from commerce.orders.models import OrderLineItem
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.checkouts.api.vat.steps import CLEARED, get, put, put_address, sell_from, without_time
from tests.checkouts.reconciliation.command import reconcile
from tests.storefront import ADDRESS, checkout_in, enter_checkout, take_step


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
    assert reconcile(czech) == []


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
    assert reconcile(czech) == []
