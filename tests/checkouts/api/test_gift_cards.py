"""Gift cards at checkout: they pay part of the total, are held during a payment and charged by the order."""

from datetime import timedelta

import pytest
from django.utils import timezone

from discounts.models import Voucher, VoucherHold, VoucherRedemption
from tests import factories
from tests.storefront import checkout_in, enter_checkout, take_step


@pytest.fixture
def variant(shop):
    factories.make_tax_rate(shop, 1900)
    return factories.make_variant(shop, price_cents=2000)


@pytest.fixture
def rate(shop):
    return factories.make_rate(shop, price_cents=500, method=factories.make_method(shop, cod_fee_cents=0))


def enter(shop, checkout, code):
    return shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code})


def walk(shop, checkout, rate, *steps, **method):
    for step in steps:
        checkout = take_step(step, shop, checkout["token"], rate=rate, **method)
    return checkout


def test_gift_card_pays_a_part_and_is_no_price_cut(shop, variant):
    card = factories.make_voucher(shop, 1500)
    checkout = enter_checkout(shop, (variant, 2))

    shown = enter(shop, checkout, card.code.lower().replace("-", " ")).json()["checkout"]

    assert shown["discount_codes"] == [
        {
            "code": card.code,
            "discount_id": None,
            "voucher_id": str(card.pk),
            "type": "gift_card",
            "amount_cents": "1500",
        }
    ]
    assert shown["totals"] == checkout["totals"] | {"gift_card_cents": "1500", "amount_due_cents": "2500"}


def test_several_gift_cards_pay_one_after_the_other(shop, variant, rate):
    first, second, third = (factories.make_voucher(shop, cents) for cents in (3000, 9000, 100))
    checkout = enter_checkout(shop, (variant, 2))
    for card in (first, second, third):
        entered = enter(shop, checkout, card.code).json()["checkout"]

    shipped = walk(shop, checkout, rate, "address", "shipping")

    assert [entry["amount_cents"] for entry in entered["discount_codes"]] == ["3000", "1000", "0"]
    assert [entry["amount_cents"] for entry in shipped["discount_codes"]] == ["3000", "1500", "0"]
    assert (shipped["totals"]["gift_card_cents"], shipped["totals"]["amount_due_cents"]) == ("4500", "0")


def test_gift_card_stays_beside_a_code_that_does_not_stack(shop, variant):
    card = factories.make_voucher(shop, 1000)
    factories.make_discount(shop, code="ALONE", stackable=False)
    checkout = enter_checkout(shop, (variant, 2))

    enter(shop, checkout, card.code)
    shown = enter(shop, checkout, "ALONE").json()["checkout"]

    assert [entry["type"] for entry in shown["discount_codes"]] == ["gift_card", "discount_code"]
    assert (shown["totals"]["total_cents"], shown["totals"]["amount_due_cents"]) == ("3600", "2600")


def test_gift_card_can_be_taken_away_again(shop, variant):
    card = factories.make_voucher(shop, 1000)
    checkout = enter_checkout(shop, (variant, 2))
    enter(shop, checkout, card.code)

    typed = card.code.replace("-", "").lower()
    answer = shop.storefront.delete(f"checkouts/{checkout['token']}/discount/{typed}.json")

    assert (answer.status_code, answer.json()["checkout"]["totals"]) == (200, checkout["totals"])


@pytest.mark.parametrize("status", ["disabled", "revoked", "depleted", "expired"])
def test_gift_card_that_is_not_active_is_refused(shop, variant, status):
    card = factories.make_voucher(shop)
    with shop.scope():
        Voucher.objects.filter(pk=card.pk).update(status=status)
    checkout = enter_checkout(shop, (variant, 2))

    answer = enter(shop, checkout, card.code)

    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["voucher_status"]) == (
        409,
        "voucher_not_active",
        status,
    )
    assert shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"] == checkout


def test_gift_card_past_its_time_is_refused_before_the_sweeper_comes(shop, variant):
    card = factories.make_voucher(shop, expires_at=timezone.now() + timedelta(days=1))
    with shop.scope():
        Voucher.objects.filter(pk=card.pk).update(expires_at=timezone.now())
    checkout = enter_checkout(shop, (variant, 2))

    answer = enter(shop, checkout, card.code)

    assert (answer.json()["code"], answer.json()["voucher_status"]) == ("voucher_not_active", "expired")


def test_gift_card_of_another_currency_is_refused(shop, variant):
    card = factories.make_voucher(shop, currency="CZK")
    checkout = enter_checkout(shop, (variant, 2))

    answer = enter(shop, checkout, card.code)

    assert (answer.status_code, answer.json()["code"]) == (409, "currency_mismatch")


def test_gift_card_of_another_shop_is_unknown(shop, other_shop, variant):
    card = factories.make_voucher(other_shop)
    checkout = enter_checkout(shop, (variant, 2))

    answer = enter(shop, checkout, card.code)

    assert (answer.status_code, answer.json()["code"]) == (422, "discount_not_found")


def test_balance_is_held_while_the_payment_runs_and_taken_by_the_order(shop, variant, rate):
    card = factories.make_voucher(shop, 3000)
    checkout = enter_checkout(shop, (variant, 1))
    enter(shop, checkout, card.code)

    walk(shop, checkout, rate, "address", "shipping", "payment", "processing")
    with shop.scope():
        held = Voucher.objects.get(pk=card.pk)
        hold = VoucherHold.objects.get()
    completed = walk(shop, checkout, rate, "ready", "completed")

    assert (held.balance_cents, held.held_cents) == (3000, 2500)
    assert (hold.amount_cents, hold.checkout_id) == (2500, int(checkout["id"]))
    assert completed["totals"]["amount_due_cents"] == "0"
    with shop.scope():
        taken = Voucher.objects.get(pk=card.pk)
        entry = VoucherRedemption.objects.get(kind="redeem")
        assert VoucherHold.objects.count() == 0
    assert (taken.balance_cents, taken.held_cents, taken.status) == (500, 0, "active")
    assert (entry.amount_cents, entry.balance_after_cents) == (-2500, 500)
    assert (entry.order_id, entry.checkout_id) == (int(completed["order_id"]), int(checkout["id"]))


def test_balance_spent_elsewhere_stops_the_payment(shop, variant, rate):
    card = factories.make_voucher(shop, 3000)
    checkout = enter_checkout(shop, (variant, 1))
    enter(shop, checkout, card.code)
    paying = walk(shop, checkout, rate, "address", "shipping", "payment")
    shop.admin.post("vouchers/redeem.json", {"code": card.code, "amount_cents": 600})

    answer = shop.storefront.post(f"checkouts/{checkout['token']}/start_payment.json", {})

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (409, "insufficient_balance_held")
    assert problem["available_cents"] == "2400"
    assert shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"] == paying
    with shop.scope():
        assert (Voucher.objects.get(pk=card.pk).held_cents, VoucherHold.objects.count()) == (0, 0)


def test_starting_over_gives_the_held_balance_back(shop, variant, rate):
    card = factories.make_voucher(shop, 3000)
    checkout = enter_checkout(shop, (variant, 1))
    enter(shop, checkout, card.code)
    walk(shop, checkout, rate, "address", "shipping", "payment", "processing")

    again = shop.storefront.post(
        "checkouts.json", {"cart_token": checkout["cart_token"], "email": "ada@example.com"}
    ).json()["checkout"]
    shown = enter(shop, again, card.code).json()["checkout"]

    assert shown["totals"]["gift_card_cents"] == "2000"
    with shop.scope():
        assert (Voucher.objects.get(pk=card.pk).held_cents, VoucherHold.objects.count()) == (0, 0)


def test_cash_on_delivery_fee_is_paid_by_the_gift_card_too(shop, variant):
    rate = factories.make_rate(shop, price_cents=0, method=factories.make_method(shop, cod_fee_cents=100))
    card = factories.make_voucher(shop, 9000)
    checkout = enter_checkout(shop, (variant, 1))
    enter(shop, checkout, card.code)

    cod = walk(shop, checkout, rate, "address", "shipping", "payment")
    transfer = walk(shop, checkout, rate, "payment", payment_method="bank_transfer")

    assert (cod["totals"]["gift_card_cents"], cod["totals"]["amount_due_cents"]) == ("2100", "0")
    assert (transfer["totals"]["gift_card_cents"], transfer["totals"]["amount_due_cents"]) == ("2000", "0")


def test_order_shows_what_the_gift_card_paid(shop, variant, rate):
    card = factories.make_voucher(shop, 1000)
    checkout = enter_checkout(shop, (variant, 1))
    enter(shop, checkout, card.code)
    completed = walk(
        shop, checkout, rate, "address", "shipping", "payment", "processing", "ready", "completed"
    )

    order = shop.storefront.get(f"orders/{completed['order_token']}.json").json()["order"]

    assert order["discount_codes"] == completed["discount_codes"]
    assert completed["discount_codes"][0]["code"] == f"****-****-****-{card.code[-4:]}"
    assert (order["totals"]["gift_card_cents"], order["totals"]["amount_due_cents"]) == ("1000", "1500")


def test_checkout_without_gift_cards_completes_as_ever(shop, variant, rate):
    assert checkout_in("completed", shop, (variant, 1), rate=rate)["totals"]["gift_card_cents"] == "0"
