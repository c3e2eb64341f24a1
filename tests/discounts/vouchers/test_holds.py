"""Gift cards at checkout: what is held, charged, returned and refused, and in how many statements."""

from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.events.models import Event
from commerce.events.operations import publish_many
from commerce.tenancy.locks import Resource, about_to_lock
from discounts.models import Voucher, VoucherPaymentAttempt, VoucherRedemption
from discounts.vouchers.errors import CurrencyMismatch, InsufficientBalanceHeld, VoucherNotActive
from discounts.vouchers.holds import (
    Funds,
    capture_holds,
    find_usable_voucher,
    hold_vouchers,
    load_vouchers_in_currency,
    lock_held,
    release_holds,
    reverse_redemptions,
)
from discounts.vouchers.operations import disable_voucher, redeem_voucher, revoke_voucher
from tests.discounts.vouchers.cards import (
    attempts,
    event_types,
    holds,
    ledger,
    make_order,
    make_voucher,
    state,
)
from tests.tenancy.sharding import problems

CHECKOUT, OTHER_CHECKOUT = 71, 72


@pytest.fixture(autouse=True)
def _scope(shop):
    with shop.scope():
        yield


def hold(*wanted, checkout_id=CHECKOUT):
    amounts = {voucher.pk: cents for voucher, cents in wanted}
    hold_vouchers(checkout_id=checkout_id, amounts=amounts, now=timezone.now())


def capture(order, checkout_id=CHECKOUT):
    """Capture like a completion, which locks the gift cards before the order is numbered."""
    now = timezone.now()
    lock_held(checkout_ids=[checkout_id])
    events = capture_holds(checkout_id=checkout_id, order_id=order.pk, actor="storefront", now=now)
    publish_many(occurrences=events, now=now)


def reverse(order):
    reverse_redemptions(order_id=order.pk, actor="key:1", now=timezone.now())


def redeem(voucher, cents, order=None):
    redeem_voucher(
        code=voucher.code,
        amount_cents=cents,
        order_id=order and order.pk,
        actor="key:1",
        now=timezone.now(),
    )


def overdue(voucher):
    Voucher.objects.filter(pk=voucher.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


def test_voucher_is_found_by_its_code_in_any_form(shop):
    voucher = make_voucher(shop)
    hold((voucher, 2500))

    typed = voucher.code.replace("-", "").lower()
    funds = find_usable_voucher(code=f" {typed} ", currency="EUR", now=timezone.now())

    assert funds == Funds(voucher.pk, voucher.code, "EUR", 7500, "active")
    assert funds.payable_cents == 7500


@pytest.mark.parametrize(
    "code", ["", "SUMMER", "OOOO-OOOO-OOOO-OOOO", "0000-0000-0000-0000", "ß" * 8, "\x00"]
)
def test_code_of_no_voucher_finds_none(shop, code):
    make_voucher(shop)

    assert find_usable_voucher(code=code, currency="EUR", now=timezone.now()) is None


def test_voucher_that_is_not_active_or_in_another_currency_is_refused_by_its_code(shop):
    overdue_voucher, dollars = make_voucher(shop, is_overdue=True), make_voucher(shop, currency="USD")

    with pytest.raises(VoucherNotActive) as not_active:
        find_usable_voucher(code=overdue_voucher.code, currency="EUR", now=timezone.now())
    with pytest.raises(CurrencyMismatch) as mismatch:
        find_usable_voucher(code=dollars.code, currency="EUR", now=timezone.now())

    assert not_active.value.extras == {"voucher_code": overdue_voucher.code, "voucher_status": "expired"}
    assert mismatch.value.extras == {"currency": "EUR", "voucher_currency": "USD"}


def test_funds_come_in_the_order_asked_for_and_say_what_can_be_paid(shop):
    first, second, dollars = make_voucher(shop), make_voucher(shop), make_voucher(shop, currency="USD")
    revoke_voucher(voucher_id=first.pk, reason="Stolen", now=timezone.now())

    funds = load_vouchers_in_currency(
        ids=[second.pk, dollars.pk, first.pk], currency="EUR", now=timezone.now()
    )

    assert [(card.id, card.status, card.available_cents, card.payable_cents) for card in funds] == [
        (second.pk, "active", 10_000, 10_000),
        (first.pk, "revoked", 10_000, 0),
    ]


def test_hold_takes_from_what_is_available_alone(shop):
    voucher = make_voucher(shop)

    hold((voucher, 4000))

    assert state(shop, voucher) == (10_000, 4000, "active")
    assert holds(shop, voucher) == {CHECKOUT: 4000}
    assert ledger(shop, voucher) == [("issue", 10_000, 10_000)]


def test_hold_of_nothing_holds_nothing(shop, django_assert_num_queries):
    voucher = make_voucher(shop)

    with django_assert_num_queries(0):
        hold((voucher, 0))

    assert holds(shop, voucher) == {}


def test_hold_is_refused_whole_when_one_of_the_vouchers_falls_short(shop):
    rich, poor = make_voucher(shop), make_voucher(shop, balance=1000)
    hold((poor, 400), checkout_id=OTHER_CHECKOUT)

    with pytest.raises(InsufficientBalanceHeld) as refused:
        hold((rich, 5000), (poor, 601))

    assert refused.value.extras == {"voucher_code": poor.code, "available_cents": 600}
    assert state(shop, rich) == (10_000, 0, "active")
    assert state(shop, poor) == (1000, 400, "active")
    assert holds(shop, rich) == {}


@pytest.mark.parametrize("status", ["expired", "disabled", "revoked"])
def test_hold_of_a_voucher_that_is_not_active_is_refused(shop, status):
    voucher = make_voucher(shop)
    Voucher.objects.update(status=status)

    with pytest.raises(VoucherNotActive) as refused:
        hold((voucher, 1))

    assert refused.value.extras == {"voucher_code": voucher.code, "voucher_status": status}
    assert state(shop, voucher) == (10_000, 0, status)


def test_hold_of_an_overdue_voucher_is_refused_before_the_sweeper_came(shop):
    voucher = make_voucher(shop, is_overdue=True)

    with pytest.raises(VoucherNotActive) as refused:
        hold((voucher, 1))

    assert refused.value.extras["voucher_status"] == "expired"


def test_refused_hold_is_kept_as_a_payment_attempt_by_its_aftermath(shop):
    voucher = make_voucher(shop)

    with pytest.raises(InsufficientBalanceHeld) as refused:
        hold((voucher, 10_001))
    refused.value.aftermath()

    assert attempts(shop, voucher) == [("refused", "insufficient_balance_held", 10_001)]
    attempt = VoucherPaymentAttempt.objects.get()
    assert (attempt.checkout_id, attempt.order_id, attempt.actor) == (CHECKOUT, None, f"checkout:{CHECKOUT}")


def test_release_gives_back_what_its_checkouts_hold(shop):
    voucher, other = make_voucher(shop), make_voucher(shop)
    hold((voucher, 4000), (other, 100))
    hold((voucher, 500), checkout_id=OTHER_CHECKOUT)

    release_holds(checkout_ids=[CHECKOUT])
    release_holds(checkout_ids=[CHECKOUT])

    assert state(shop, voucher) == (10_000, 500, "active")
    assert state(shop, other) == (10_000, 0, "active")
    assert holds(shop, voucher) == {OTHER_CHECKOUT: 500}


def test_release_of_several_checkouts_sums_up(shop):
    voucher = make_voucher(shop)
    hold((voucher, 4000))
    hold((voucher, 500), checkout_id=OTHER_CHECKOUT)

    release_holds(checkout_ids=[CHECKOUT, OTHER_CHECKOUT])

    assert state(shop, voucher) == (10_000, 0, "active")
    assert holds(shop, voucher) == {}


def test_capture_turns_holds_into_ledger_entries(shop):
    order = make_order(shop)
    voucher, whole = make_voucher(shop), make_voucher(shop, balance=300)
    hold((voucher, 4000), (whole, 300))
    hold((voucher, 500), checkout_id=OTHER_CHECKOUT)

    capture(order)

    assert state(shop, voucher) == (6000, 500, "active")
    assert state(shop, whole) == (0, 0, "depleted")
    assert holds(shop, voucher) == {OTHER_CHECKOUT: 500}
    assert ledger(shop, voucher) == [("issue", 10_000, 10_000), ("redeem", -4000, 6000)]
    entry = VoucherRedemption.objects.get(voucher=voucher, kind="redeem")
    assert (entry.order_id, entry.checkout_id, entry.actor) == (order.pk, CHECKOUT, "storefront")
    assert attempts(shop, voucher) == [("succeeded", None, 4000)]
    assert voucher.last_redeemed_at is not None
    assert event_types(shop)[2:] == ["voucher.redeemed", "voucher.redeemed", "voucher.depleted"]
    assert Event.objects.filter(type="voucher.redeemed").earliest("pk").data == {
        "voucher_id": str(voucher.pk),
        "currency": "EUR",
        "order_id": str(order.pk),
        "checkout_id": str(CHECKOUT),
        "amount_cents": "4000",
        "balance_cents": "6000",
    }


def test_capture_repeated_takes_once(shop):
    order, voucher = make_order(shop), make_voucher(shop)
    hold((voucher, 4000))

    capture(order)
    capture(order)

    assert state(shop, voucher) == (6000, 0, "active")


def test_capture_of_what_was_ended_meanwhile_takes_it_and_leaves_the_status(shop):
    order = make_order(shop)
    vouchers = [make_voucher(shop, balance=300) for _ in range(3)]
    hold(*[(voucher, 300) for voucher in vouchers])
    disable_voucher(voucher_id=vouchers[0].pk, now=timezone.now())
    revoke_voucher(voucher_id=vouchers[1].pk, reason="Stolen", now=timezone.now())
    overdue(vouchers[2])

    capture(order)

    assert [state(shop, voucher) for voucher in vouchers] == [
        (0, 0, "disabled"),
        (0, 0, "revoked"),
        (0, 0, "active"),  # shows as expired, as if the sweeper had already run
    ]
    assert "voucher.depleted" not in event_types(shop)


def test_reversal_returns_what_checkout_and_merchant_took_for_the_order(shop):
    order, other_order = make_order(shop), make_order(shop)
    voucher = make_voucher(shop)
    # The test's one transaction stands for several requests, so orders are locked before it uses gift cards.
    about_to_lock(Resource.ORDER)
    hold((voucher, 4000))
    capture(order)
    redeem(voucher, 1000, order)
    redeem(voucher, 2000, other_order)
    redeem(voucher, 3000)

    reverse(order)

    assert state(shop, voucher) == (5000, 0, "active")
    assert ledger(shop, voucher)[-1] == ("reversal", 5000, 5000)
    entry = VoucherRedemption.objects.get(kind="reversal")
    assert (entry.order_id, entry.checkout_id, entry.actor) == (order.pk, None, "key:1")


def test_reversal_repeated_returns_once(shop):
    order, voucher = make_order(shop), make_voucher(shop)
    redeem(voucher, 1000, order)

    reverse(order)
    reverse(order)

    assert state(shop, voucher) == (10_000, 0, "active")
    assert [kind for kind, *_ in ledger(shop, voucher)] == ["issue", "redeem", "reversal"]


def test_reversal_brings_a_depleted_voucher_back_to_life(shop):
    order, voucher = make_order(shop), make_voucher(shop)
    redeem(voucher, 10_000, order)
    assert state(shop, voucher) == (0, 0, "depleted")

    reverse(order)

    assert state(shop, voucher) == (10_000, 0, "active")


def test_reversal_of_a_depleted_voucher_past_its_time_leaves_it_expired(shop):
    order, voucher = make_order(shop), make_voucher(shop)
    redeem(voucher, 10_000, order)
    overdue(voucher)

    reverse(order)

    (funds,) = load_vouchers_in_currency(ids=[voucher.pk], currency="EUR", now=timezone.now())
    assert (funds.status, funds.available_cents, funds.payable_cents) == ("expired", 10_000, 0)


@pytest.mark.parametrize("status", ["disabled", "revoked", "expired"])
def test_reversal_leaves_a_voucher_that_was_ended_ended(shop, status):
    order, voucher = make_order(shop), make_voucher(shop)
    redeem(voucher, 4000, order)
    Voucher.objects.update(status=status)

    reverse(order)

    assert state(shop, voucher) == (10_000, 0, status)


def test_reversal_of_an_order_leaves_the_voucher_that_was_bought_with_it(shop):
    order = make_order(shop)
    voucher = make_voucher(shop, order_id=order.pk)

    reverse(order)

    assert state(shop, voucher) == (10_000, 0, "active")
    assert ledger(shop, voucher) == [("issue", 10_000, 10_000)]


@pytest.mark.parametrize("number", [1, 5])
def test_number_of_statements_does_not_depend_on_the_number_of_vouchers(
    shop, django_assert_num_queries, number
):
    order = make_order(shop)
    vouchers = [make_voucher(shop) for _ in range(number)]
    ids = [voucher.pk for voucher in vouchers]

    with django_assert_num_queries(1) as reads:
        load_vouchers_in_currency(ids=ids, currency="EUR", now=timezone.now())
    with django_assert_num_queries(2) as held:
        hold(*[(voucher, 100) for voucher in vouchers])
    with django_assert_num_queries(2) as released:
        release_holds(checkout_ids=[CHECKOUT])
    hold(*[(voucher, 100) for voucher in vouchers])
    with django_assert_num_queries(3) as captured:
        capture(order)
    with django_assert_num_queries(2) as reversed_:
        reverse(order)

    for counted in (reads, held, released, captured, reversed_):
        assert [problems(query["sql"]) for query in counted] == [()] * len(counted)


def test_checkout_without_vouchers_costs_one_statement(shop, django_assert_num_queries):
    order = make_order(shop)

    with django_assert_num_queries(2):
        release_holds(checkout_ids=[CHECKOUT])
        reverse(order)
