"""Uses of discounts: held at the start of a payment, redeemed by the order, returned if either fails."""

from datetime import timedelta

import pytest
from django.utils import timezone

from checkouts.models import Checkout
from checkouts.sweeping import sweep_overdue_checkouts
from discounts.models import Discount, DiscountHold, DiscountRedemption, Voucher, VoucherRedemption
from tests import factories
from tests.storefront import EMAIL, enter_checkout, take_step


@pytest.fixture
def variant(shop):
    return factories.make_variant(shop, price_cents=2000, stock=100)


@pytest.fixture
def rate(shop):
    return factories.make_rate(shop)


def checkout_with(shop, variant, rate, *codes, to="payment"):
    """Create a checkout with codes, and take it to a phase."""
    checkout = enter_checkout(shop, (variant, 2))
    for code in codes:
        answer = shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code})
        assert answer.status_code == 200, answer.content
    steps = ("address", "shipping", "payment", "processing", "ready", "completed")
    for step in steps[: steps.index(to) + 1]:
        checkout = take_step(step, shop, checkout["token"], rate=rate)
    return checkout


def start_payment(shop, checkout):
    return shop.storefront.post(f"checkouts/{checkout['token']}/start_payment.json", {})


def counts(shop):
    """Return the uses counted, held and redeemed."""
    with shop.scope():
        used = sum(Discount.objects.values_list("usage_count", flat=True))
        return used, DiscountHold.objects.count(), DiscountRedemption.objects.count()


def test_use_is_held_and_redeemed(shop, variant, rate):
    code = factories.make_discount(shop, code="SPRING", stackable=True)
    automatic = factories.make_discount(shop, code=None, stackable=True)
    checkout = checkout_with(shop, variant, rate, "SPRING", to="processing")
    while_paying = counts(shop)

    for step in ("ready", "completed"):
        completed = take_step(step, shop, checkout["token"], rate=rate)

    assert while_paying == (2, 2, 0)
    assert counts(shop) == (2, 0, 2)
    with shop.scope():
        entries = {entry.discount_id: entry for entry in DiscountRedemption.objects.all()}
    assert (entries[automatic.pk].amount_cents, entries[automatic.pk].code) == (400, None)
    entry = entries[code.pk]
    assert (entry.amount_cents, entry.code, entry.currency, entry.kind) == (360, "SPRING", "EUR", "redeem")
    assert (entry.order_id, entry.checkout_id) == (int(completed["order_id"]), int(checkout["id"]))
    assert (entry.customer_id, entry.customer_email) == (int(completed["customer_id"]), EMAIL)


def test_code_that_takes_nothing_is_not_used(shop, variant, rate):
    factories.make_discount(shop, code="FREE", stackable=True, value_mode="free", value_amount=None)
    factories.make_discount(shop, code="MORE", stackable=True)

    completed = checkout_with(shop, variant, rate, "FREE", "MORE", to="completed")

    assert [entry["amount_cents"] for entry in completed["discount_codes"]] == ["4000", "0"]
    assert counts(shop) == (1, 0, 1)


def test_use_that_went_to_another_stops_the_payment(shop, variant, rate):
    discount = factories.make_discount(shop, code="LAST", usage_limit_total=1)
    first = checkout_with(shop, variant, rate, "LAST")
    second = checkout_with(shop, variant, rate, "LAST")
    assert start_payment(shop, first).status_code == 200

    answer = start_payment(shop, second)

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (409, "discount_exhausted")
    assert (problem["discount_code"], problem["discount_id"]) == ("LAST", str(discount.pk))
    assert shop.storefront.get(f"checkouts/{second['token']}.json").json()["checkout"] == second
    assert counts(shop) == (1, 1, 0)


def choose(shop, checkout, method="cod"):
    path = f"checkouts/{checkout['token']}/payment_method.json"
    answer = shop.storefront.put(path, {"payment_method": method})
    assert answer.status_code == 200, answer.content
    return answer.json()["checkout"]


@pytest.mark.parametrize(
    "limit", [{"usage_limit_total": 1}, {"usage_limit_per_customer": 1}, {"first_order_only": True}]
)
def test_shopper_whose_discount_has_run_out_goes_on_without_it(shop, variant, rate, limit):
    factories.make_discount(shop, code="LAST", stackable=True, **limit)
    factories.make_discount(shop, code="TEN", stackable=True)
    first, second = (checkout_with(shop, variant, rate, "LAST", "TEN") for _ in range(2))
    start_payment(shop, first)
    refused = start_payment(shop, second)

    chosen = choose(shop, second)
    started = start_payment(shop, second)

    assert second["totals"]["discount_cents"] == "760"
    assert "payment method again" in refused.json()["detail"]
    shown = [(entry["code"], entry["amount_cents"]) for entry in chosen["discount_codes"]]
    assert shown == [("LAST", "0"), ("TEN", "400")]
    assert chosen["totals"]["discount_cents"] == "400"
    assert started.status_code == 200
    assert started.json()["payment_attempt"]["amount_cents"] == chosen["totals"]["amount_due_cents"]
    assert counts(shop) == (3, 3, 0)


def test_automatic_discount_that_has_run_out_is_dropped_like_a_code(shop, variant, rate):
    factories.make_discount(shop, code=None, usage_limit_total=1)
    first, second = (checkout_with(shop, variant, rate) for _ in range(2))
    start_payment(shop, first)

    chosen = choose(shop, second)

    assert (chosen["automatic_discounts"], chosen["totals"]["discount_cents"]) == ([], "0")
    assert start_payment(shop, second).status_code == 200


def test_choosing_again_changes_nothing_while_the_uses_last(shop, variant, rate):
    discount = factories.make_discount(shop, code="TEN", usage_limit_total=1)
    checkout = checkout_with(shop, variant, rate, "TEN")
    shop.admin.put(f"discounts/{discount.pk}.json", {"value_amount": 5000})

    chosen = choose(shop, checkout)

    assert chosen["totals"] == checkout["totals"]
    assert chosen["discount_codes"] == checkout["discount_codes"]


def test_customer_uses_a_discount_as_often_as_it_allows(shop, variant, rate):
    factories.make_discount(shop, code="TWICE", usage_limit_per_customer=2)
    for _ in range(2):
        checkout_with(shop, variant, rate, "TWICE", to="completed")
    third = enter_checkout(shop, (variant, 1))

    answer = shop.storefront.post(f"checkouts/{third['token']}/discount.json", {"code": "TWICE"})

    assert (answer.status_code, answer.json()["code"]) == (422, "customer_usage_limit_reached")


@pytest.mark.parametrize("fields", [{"usage_limit_per_customer": 1}, {"first_order_only": True}])
def test_customer_who_pays_twice_at_once_uses_it_once(shop, variant, rate, fields):
    factories.make_discount(shop, code="ONCE", **fields)
    first, second = (checkout_with(shop, variant, rate, "ONCE") for _ in range(2))

    answers = [start_payment(shop, checkout) for checkout in (first, second)]

    assert [answer.status_code for answer in answers] == [200, 409]
    assert counts(shop) == (1, 1, 0)


def test_abandoned_payment_gives_the_use_back(shop, variant, rate):
    factories.make_discount(shop, code="LAST", usage_limit_total=1)
    checkout = checkout_with(shop, variant, rate, "LAST", to="processing")
    with shop.scope():
        Checkout.objects.filter(token=checkout["token"]).update(
            expires_at=timezone.now() - timedelta(minutes=1)
        )

    sweep_overdue_checkouts(now=timezone.now())

    assert counts(shop) == (0, 0, 0)
    assert start_payment(shop, checkout_with(shop, variant, rate, "LAST")).status_code == 200


def test_starting_over_gives_the_use_back_at_once(shop, variant, rate):
    factories.make_discount(shop, code=None, usage_limit_total=1)
    checkout = checkout_with(shop, variant, rate, to="processing")

    again = shop.storefront.post(
        "checkouts.json", {"cart_token": checkout["cart_token"], "email": EMAIL}
    ).json()["checkout"]

    assert again["totals"]["discount_cents"] == "400"
    assert counts(shop) == (0, 0, 0)


def test_cancelled_order_gives_its_uses_and_gift_cards_back(shop, variant, rate):
    factories.make_discount(shop, code="LAST", usage_limit_total=1, usage_limit_per_customer=1)
    card = factories.make_voucher(shop, 1000)
    completed = checkout_with(shop, variant, rate, "LAST", card.code, to="completed")
    path = f"orders/{completed['order_id']}/cancel.json"

    answers = [shop.admin.post(path, {}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert counts(shop) == (0, 0, 2)
    with shop.scope():
        entry = DiscountRedemption.objects.get(kind="reversal")
        returned = VoucherRedemption.objects.get(kind="reversal")
        voucher = Voucher.objects.get()
    assert (entry.amount_cents, entry.order_id) == (-400, int(completed["order_id"]))
    assert (returned.amount_cents, returned.balance_after_cents) == (1000, 1000)
    assert (voucher.balance_cents, voucher.status) == (1000, "active")
    assert start_payment(shop, checkout_with(shop, variant, rate, "LAST")).status_code == 200


def test_completion_of_a_paid_checkout_survives_the_end_of_its_discount(shop, variant, rate):
    discount = factories.make_discount(shop, code="SPRING")
    checkout = checkout_with(shop, variant, rate, "SPRING", to="ready")
    shop.admin.delete(f"discounts/{discount.pk}.json")

    completed = take_step("completed", shop, checkout["token"], rate=rate)

    assert completed["totals"]["discount_cents"] == "400"
    assert counts(shop) == (1, 0, 1)
