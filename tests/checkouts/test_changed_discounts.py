"""Staff change discounts and gift cards that are entered in open checkouts."""

from datetime import timedelta

import pytest
from django.utils import timezone

from checkouts.models import Checkout
from discounts.models import Discount, DiscountRedemption
from tests import factories
from tests.storefront import ADDRESS, PHASES, checkout_in, enter_checkout, take_step
from tests.threads import run_threads

BOGO = {
    "buy": {"quantity": 1},
    "get": {"quantity": 1},
    "value_mode": "free",
}
OPEN_PHASES = PHASES[:6]


@pytest.fixture
def rate(shop):
    return factories.make_rate(shop)


@pytest.fixture
def variant(shop):
    return factories.make_variant(shop, price_cents=2000)


@pytest.fixture
def discount(shop):
    return make_bogo(shop, code="PAIR")


def make_bogo(shop, **fields):
    body = {"type": "buy_x_get_y", "title": "Pair", "bogo_config": BOGO} | fields
    created = shop.admin.post("discounts.json", body).json()["discount"]
    with shop.scope():
        return Discount.objects.get(pk=created["id"])


def make_checkout(shop, variant, rate, *codes, to="pending"):
    """Create a checkout of two units with codes, and take it to a phase."""
    checkout = enter_checkout(shop, (variant, 2))
    for code in codes:
        answer = shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code})
        assert answer.status_code == 200, answer.content
        checkout = answer.json()["checkout"]
    for step in PHASES[1 : PHASES.index(to) + 1]:
        checkout = take_step(step, shop, checkout["token"], rate=rate)
    return checkout


def change(shop, discount, **changes):
    answer = shop.admin.put(f"discounts/{discount.pk}.json", changes)
    assert answer.status_code == 200, answer.content


def reprice(shop, checkout):
    """Send the address again, which evaluates every discount again."""
    body = {"shipping_address": ADDRESS, "same_as_shipping": True}
    return shop.storefront.put(f"checkouts/{checkout['token']}/address.json", body).json()["checkout"]


@pytest.mark.parametrize("phase", OPEN_PHASES)
def test_code_stays_while_an_open_checkout_has_entered_it(shop, variant, rate, discount, phase):
    checkout = make_checkout(shop, variant, rate, "pair", to=phase)

    answer = shop.admin.put(f"discounts/{discount.pk}.json", {"code": None, "title": "New"})

    assert (answer.status_code, answer.json()["code"]) == (409, "discount_in_use")
    with shop.scope():
        row = Discount.objects.get()
    assert (row.code, row.title) == ("PAIR", discount.title)
    assert shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"] == checkout


@pytest.mark.parametrize("phase", ["completed", "abandoned"])
def test_code_goes_when_only_ended_checkouts_have_entered_it(shop, variant, rate, discount, phase):
    checkout = make_checkout(
        shop, variant, rate, "PAIR", to="completed" if phase == "completed" else "address"
    )
    if phase == "abandoned":
        shop.storefront.post("checkouts.json", {"cart_token": checkout["cart_token"], "email": "a@b.cz"})

    change(shop, discount, code=None)

    assert enter_checkout(shop, (variant, 2))["automatic_discounts"][0]["discount_id"] == str(discount.pk)


def test_code_of_another_discount_goes(shop, variant, rate, discount):
    make_checkout(shop, variant, rate, "PAIR")
    other = make_bogo(shop, code="OTHER")

    change(shop, other, code=None)


@pytest.mark.django_db(transaction=True)
def test_code_is_entered_or_taken_away_never_both(shop, variant, rate):
    for number in range(10):
        discount = make_bogo(shop, code=f"PAIR{number}")
        checkout = enter_checkout(shop, (variant, 2))
        path = f"checkouts/{checkout['token']}/discount.json"

        enter, take = run_threads(
            2,
            lambda index: (
                shop.admin.put(f"discounts/{discount.pk}.json", {"code": None})  # noqa: B023
                if index
                else shop.storefront.post(path, {"code": f"PAIR{number}"})  # noqa: B023
            ),
        )

        assert (enter.status_code, take.status_code) in {(200, 409), (422, 200)}
        shop.admin.delete(f"discounts/{discount.pk}.json")


def test_discount_that_has_lost_its_code_is_listed_once_and_paid(shop, variant, rate, discount):
    """An older release allowed this."""
    checkout = make_checkout(shop, variant, rate, "PAIR", to="address")
    with shop.scope():
        Discount.objects.update(code=None)

    shown = reprice(shop, checkout)

    assert [entry["amount_cents"] for entry in shown["discount_codes"]] == ["0"]
    assert [entry["amount_cents"] for entry in shown["automatic_discounts"]] == ["2000"]
    for step in PHASES[2:]:
        shown = take_step(step, shop, checkout["token"], rate=rate)
    assert shown["totals"]["discount_cents"] == "2000"
    with shop.scope():
        assert DiscountRedemption.objects.get().amount_cents == 2000


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "disabled"},
        {"ends_at": "2001-01-01T00:00:00Z"},
        {"starts_at": "2100-01-01T00:00:00Z"},
        {"minimum_order_subtotal_cents": 99_999},
        {"value_amount": 0},
        {"currency": "CZK"},
        {"customer_eligibility": "tagged", "customer_tags": ["vip"]},
        None,
    ],
)
def test_discount_that_applies_no_more_takes_nothing_off_and_stays_listed(shop, variant, rate, changes):
    discount = factories.make_discount(shop, code="TEN")
    checkout = make_checkout(shop, variant, rate, "TEN", to="address")
    if changes is None:
        shop.admin.delete(f"discounts/{discount.pk}.json")
    else:
        change(shop, discount, **changes)

    shown = reprice(shop, checkout)

    assert [(entry["code"], entry["amount_cents"]) for entry in shown["discount_codes"]] == [("TEN", "0")]
    assert shown["totals"]["total_cents"] == "4000"
    for step in PHASES[2:]:
        shown = take_step(step, shop, checkout["token"], rate=rate)
    assert shown["totals"]["discount_cents"] == "0"
    with shop.scope():
        assert DiscountRedemption.objects.count() == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "disabled"},
        {"ends_at": "2001-01-01T00:00:00Z"},
        {"value_amount": 9999},
        {"value_mode": "fixed_amount", "value_amount": 1, "currency": "EUR"},
        {"code": "RENAMED"},
        {"currency": "CZK"},
        {"usage_limit_total": 1},
        None,
    ],
)
def test_what_was_frozen_is_charged_whatever_the_discount_becomes(shop, variant, rate, changes):
    discount = factories.make_discount(shop, code="TEN")
    checkout = make_checkout(shop, variant, rate, "TEN", to="payment")
    if changes is None:
        shop.admin.delete(f"discounts/{discount.pk}.json")
    else:
        change(shop, discount, **changes)

    for step in PHASES[4:]:
        completed = take_step(step, shop, checkout["token"], rate=rate)

    assert completed["totals"] == checkout["totals"]
    with shop.scope():
        entry = DiscountRedemption.objects.get()
    assert (entry.discount_id, entry.code, entry.amount_cents) == (discount.pk, "TEN", 400)


def test_automatic_discount_that_becomes_a_code_is_dropped_unless_it_was_frozen(shop, variant, rate):
    discount = make_bogo(shop, code=None)
    early, late = (checkout_in(phase, shop, (variant, 2), rate=rate) for phase in ("address", "payment"))
    change(shop, discount, code="PAIR")

    shown = reprice(shop, early)
    for step in PHASES[4:]:
        completed = take_step(step, shop, late["token"], rate=rate)

    assert (shown["automatic_discounts"], shown["totals"]["discount_cents"]) == ([], "0")
    assert completed["totals"] == late["totals"]
    assert late["totals"]["discount_cents"] == "2000"


def expire(shop, card):
    with shop.scope():
        type(card).objects.update(expires_at=timezone.now() - timedelta(seconds=1))


END_CARD = {
    "disabled": lambda shop, card: shop.admin.delete(f"vouchers/{card.pk}.json"),
    "revoked": lambda shop, card: shop.admin.post(f"vouchers/{card.pk}/revoke.json", {"reason": "fraud"}),
    "expired": expire,
}


@pytest.mark.parametrize("end", END_CARD)
def test_gift_card_that_has_ended_pays_nothing_at_the_next_step(shop, variant, rate, end):
    card = factories.make_voucher(shop, 1000)
    checkout = make_checkout(shop, variant, rate, card.code, to="address")
    END_CARD[end](shop, card)

    shown = reprice(shop, checkout)

    assert [entry["amount_cents"] for entry in shown["discount_codes"]] == ["0"]
    assert shown["totals"]["amount_due_cents"] == "4000"


@pytest.mark.parametrize("end", END_CARD)
def test_gift_card_that_has_ended_stops_the_payment(shop, variant, rate, end):
    card = factories.make_voucher(shop, 1000)
    checkout = make_checkout(shop, variant, rate, card.code, to="payment")
    END_CARD[end](shop, card)

    answer = shop.storefront.post(f"checkouts/{checkout['token']}/start_payment.json", {})

    assert (answer.status_code, answer.json()["code"]) == (409, "voucher_not_active")
    with shop.scope():
        assert Checkout.objects.get().phase == "payment"


@pytest.mark.parametrize("end", END_CARD)
def test_gift_card_that_ends_while_it_is_held_pays(shop, variant, rate, end):
    card = factories.make_voucher(shop, 1000)
    checkout = make_checkout(shop, variant, rate, card.code, to="processing")
    END_CARD[end](shop, card)

    for step in PHASES[5:]:
        completed = take_step(step, shop, checkout["token"], rate=rate)

    assert completed["totals"] == checkout["totals"]
    with shop.scope():
        card.refresh_from_db()
    assert (card.balance_cents, card.held_cents) == (0, 0)
