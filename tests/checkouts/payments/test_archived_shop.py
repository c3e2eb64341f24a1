"""A shop is archived while its customers pay: no money is kept without an order, and all of it can be reached."""

import pytest
from django.utils import timezone

from accounts.operations import set_suspended
from checkouts.models import Checkout
from checkouts.operations import create_checkout
from checkouts.reconciliation import find_differences
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.errors import Unauthenticated
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.payments.models import FakeCardPayment
from commerce.tenancy.scope import workspace_scope
from tests import factories
from tests.checkouts.payments.test_stripe_webhook import event_of, send
from tests.checkouts.payments.test_test_card import choose
from tests.problems import problem
from tests.storefront import EMAIL, cart_with, checkout_in, take_step

REACHABLE = ("orders.json", "payments.json", "outbox_dispatches.json", "settings.json")
GONE = ("markets.json", "products.json", "customers.json", "discounts.json", "api_keys.json")


def archive(shop):
    answer = shop.workspace.delete(f"accounts/{shop.handle}.json")
    assert answer.status_code == 200, answer.content
    assert answer.json()["account"]["status"] == "archived"


def get(shop, path):
    return shop.workspace.get(f"{shop.handle}/{path}")


def post(shop, path):
    return shop.workspace.post(f"{shop.handle}/{path}", {})


def sweep():
    return sweep_overdue_checkouts(now=timezone.now())


def checkouts(shop):
    """Return the phases of all checkouts, after checking that the books agree and ended ones hold nothing."""
    with shop.scope():
        assert list(find_differences()) == []
        return sorted(Checkout.objects.values_list("phase", flat=True))


def orders(shop):
    with shop.scope():
        return list(Order.objects.values_list("status", "payment_status"))


def reachable(shop):
    """Return which of the paths kept after archiving answer the workspace's key."""
    answers = {path: get(shop, path).status_code for path in REACHABLE}
    assert set(answers.values()) in ({200}, {404})
    for path in GONE:
        assert problem(get(shop, path)) == (404, "not_found")
    for path in REACHABLE:
        assert problem(shop.admin.get(path)) == (404, "not_found")
    assert problem(shop.storefront.get("markets.json")) == (401, "unauthenticated")
    return set(answers.values()) == {200}


@pytest.fixture
def paying(till, stripe):
    """A checkout whose customer has opened Stripe's page."""
    payment = till("stripe", stock=1)
    payment.start()
    return payment


def test_page_that_nobody_has_paid_is_closed(paying, stripe):
    archive(paying.shop)
    before = reachable(paying.shop)

    run_due()

    assert stripe.session["status"] == "expired"
    assert (checkouts(paying.shop), orders(paying.shop), stripe.refunds) == (["abandoned"], [], [])
    assert (before, reachable(paying.shop)) == (True, False)


def test_money_that_comes_before_the_page_is_closed_goes_back(paying, stripe):
    archive(paying.shop)
    stripe.pay()

    run_due()
    run_due()

    (attempt,) = paying.attempts
    assert (checkouts(paying.shop), orders(paying.shop)) == (["abandoned"], [])
    assert [refund["payment_intent"] for refund in stripe.refunds] == ["pi_1"]
    assert (attempt.failure_code, attempt.refund_reference) == ("paid_too_late", "re_1")
    assert reachable(paying.shop) is False


def test_stripes_event_for_an_archived_shop_is_heard_and_its_money_goes_back_once(paying, stripe):
    archive(paying.shop)
    with paying.shop.scope():
        OutboxDispatch.objects.filter(target__task_name="cancel_payment").update(
            status="cancelled", finished_at=timezone.now()
        )
    stripe.pay()

    answer = send(paying.shop, event_of(stripe))
    run_due()
    run_due()

    assert answer.status_code == 200
    assert len(stripe.refunds) == 1
    assert (checkouts(paying.shop), orders(paying.shop)) == (["abandoned"], [])


def test_money_at_the_test_cards_page_goes_back(till):
    payment = till("test_card", stock=1)
    started = payment.start()
    archive(payment.shop)

    choose(started, "succeed")
    run_due()
    run_due()

    with payment.shop.scope():
        assert FakeCardPayment.objects.get().status == "refunded"
        assert InventoryLevel.objects.get().reserved == 0
    assert (checkouts(payment.shop), orders(payment.shop)) == (["abandoned"], [])
    assert reachable(payment.shop) is False


def test_page_of_an_archived_shop_can_not_be_paid_once_it_is_closed(till):
    payment = till("test_card")
    started = payment.start()
    archive(payment.shop)
    run_due()

    choose(started, "succeed")

    with payment.shop.scope():
        assert FakeCardPayment.objects.get().status == "abandoned"


@pytest.mark.django_db(transaction=True)
def test_what_was_paid_before_becomes_an_order_that_the_workspace_can_refund(paying, stripe):
    shop = paying.shop
    stripe.pay()
    paying.confirm()
    archive(shop)
    waiting = (checkouts(shop), reachable(shop))

    sweep()

    assert waiting == (["processing"], True)
    assert (checkouts(shop), orders(shop)) == (["completed"], [("open", "paid")])
    (order,) = get(shop, "orders.json").json()["orders"]
    assert problem(shop.admin.post(f"orders/{order['id']}/cancel.json", {})) == (404, "not_found")
    cancelled = post(shop, f"orders/{order['id']}/cancel.json")
    assert cancelled.json()["order"]["status"] == "cancelled"
    assert reachable(shop) is True
    run_due()
    assert (orders(shop), len(stripe.refunds)) == ([("cancelled", "refunded")], 1)
    assert checkouts(shop) == ["completed"]
    assert reachable(shop) is False


def test_order_that_is_paid_and_sent_keeps_nothing_within_reach(shop):
    completed = checkout_in("completed", shop, (factories.make_variant(shop), 1))
    archive(shop)
    path = f"orders/{completed['order_id']}"

    answers = [post(shop, f"{path}/{step}.json").status_code for step in ("fulfill", "mark_paid")]

    assert answers == [200, 200]
    assert orders(shop) == [("closed", "paid")]
    assert problem(get(shop, f"{path}.json")) == (404, "not_found")


def test_refund_that_has_failed_for_good_can_be_retried(paying, stripe):
    shop = paying.shop
    archive(shop)
    stripe.pay()
    run_due_but_the_refund(stripe)
    with shop.scope():
        OutboxDispatch.objects.filter(target__task_name="refund_payment").update(
            status="dead", finished_at=timezone.now()
        )
    (payment,) = get(shop, "payments.json").json()["payments"]
    (dead,) = get(shop, "outbox_dispatches.json?status=dead").json()["outbox_dispatches"]

    retried = post(shop, f"outbox_dispatches/{dead['id']}/retry.json")
    run_due()

    assert (payment["paid_late_at"] is not None, payment["refunded_at"]) == (True, None)
    assert retried.json()["outbox_dispatch"]["status"] == "pending"
    assert [refund["payment_intent"] for refund in stripe.refunds] == ["pi_1"]
    assert reachable(shop) is False


def run_due_but_the_refund(stripe):
    """Stripe fails in the second read of the session, the one for the refund."""
    for how in (None, 500):
        stripe.fail_next(how)
    run_due()
    assert stripe.refunds == []


@pytest.mark.parametrize("phase", ["pending", "address", "shipping", "payment", "processing", "ready"])
def test_checkout_without_money_is_abandoned_and_its_stock_freed(shop, phase):
    checkout_in(phase, shop, (factories.make_variant(shop), 2))

    archive(shop)

    assert (checkouts(shop), orders(shop), sweep()) == (["abandoned"], [], 0)
    with shop.scope():
        assert InventoryLevel.objects.get().reserved == 0


def test_gift_card_that_pays_all_is_free_again(shop):
    card = factories.make_voucher(shop, 100_000)
    rate = factories.make_rate(shop)
    checkout = checkout_in("pending", shop, (factories.make_variant(shop), 1))
    path = f"checkouts/{checkout['token']}"
    shop.storefront.post(f"{path}/discount.json", {"code": card.code})
    for step in ("address", "shipping", "payment", "processing", "ready"):
        take_step(step, shop, checkout["token"], rate=rate)

    archive(shop)

    assert (checkouts(shop), orders(shop)) == (["abandoned"], [])
    with shop.scope():
        card.refresh_from_db()
    assert (card.balance_cents, card.held_cents) == (100_000, 0)


def test_archiving_again_changes_nothing(paying, stripe):
    archive(paying.shop)
    archive(paying.shop)

    with paying.shop.scope():
        tasks = OutboxDispatch.objects.values_list("target__task_name", flat=True)
        assert list(tasks) == ["cancel_payment"]
    assert checkouts(paying.shop) == ["abandoned"]


def test_other_shops_go_on(till, other_shop):
    mine = till("test_card")
    mine.start()
    checkout_in("processing", other_shop, (factories.make_variant(other_shop), 1))

    archive(mine.shop)

    assert (checkouts(mine.shop), checkouts(other_shop)) == (["abandoned"], ["processing"])


def test_request_that_was_let_in_before_makes_no_checkout_afterwards(shop):
    token = cart_with(shop, (factories.make_variant(shop), 1))
    archive(shop)

    with pytest.raises(Unauthenticated), shop.scope():
        create_checkout(cart_token=token, email=EMAIL, now=timezone.now())

    assert checkouts(shop) == []


def test_keys_of_another_workspace_reach_nothing(paying, other_shop):
    archive(paying.shop)

    for path in REACHABLE:
        answer = other_shop.workspace.get(f"{paying.shop.handle}/{path}")
        assert problem(answer) == (404, "not_found")


@pytest.mark.django_db(transaction=True)
def test_page_of_a_suspended_shop_is_paid_and_becomes_an_order(paying, stripe):
    """Suspending locks out customers, but what is paid is sold."""
    shop = paying.shop
    with workspace_scope(shop.workspace_id):
        set_suspended(account_id=shop.id, suspended=True, now=timezone.now())
    stripe.pay()
    refused = paying.confirm()

    send(shop, event_of(stripe))
    run_due()
    paying.let_expire()
    sweep()

    assert problem(refused) == (403, "account_suspended")
    assert (checkouts(shop), orders(shop)) == (["completed"], [("open", "paid")])
