"""`confirm` with `{"cancel": true}` for payments that no gateway takes. The test card and Stripe have tests of their own."""

from datetime import timedelta

import pytest
from django.utils import timezone

from checkouts.models import Checkout
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from discounts.models import DiscountHold, VoucherHold
from tests import factories
from tests.checkouts.payments.conftest import Till
from tests.storefront import enter_checkout, take_step


@pytest.fixture(params=["bank_transfer", "cod", "gift_card"])
def payment(request, shop) -> Till:
    """A started payment by each way that needs no gateway, with a discount; the last is paid by a gift card alone."""
    rate = factories.make_rate(shop)
    factories.make_discount(shop, code=None)
    checkout = enter_checkout(shop, (factories.make_variant(shop, stock=5), 2))
    for step in ("address", "shipping"):
        take_step(step, shop, checkout["token"], rate=rate)
    method = "bank_transfer"
    if request.param == "gift_card":
        card = factories.make_voucher(shop, 100_000)
        shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": card.code})
    else:
        method = request.param
    for step in ("payment", "processing"):
        take_step(step, shop, checkout["token"], rate=rate, payment_method=method)
    return Till.of(shop, checkout["token"])


def count_holds(payment):
    with payment.shop.scope():
        return DiscountHold.objects.count(), VoucherHold.objects.count()


def expire_and_sweep(payment):
    with payment.shop.scope():
        Checkout.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    sweep_overdue_checkouts(now=timezone.now())


def test_open_payment_is_cancelled_and_never_becomes_an_order(payment):
    assert count_holds(payment)[0] == 1

    answer = payment.confirm({"cancel": True})

    checkout, attempt = answer.json()["checkout"], answer.json()["payment_attempt"]
    assert answer.status_code == 200
    assert (checkout["phase"], checkout["ready_to_complete"]) == ("failed", False)
    assert (attempt["status"], attempt["failure_code"]) == ("failed", "payment_abandoned")
    assert checkout["failure_code"] == "payment_abandoned"
    assert count_holds(payment) == (0, 0)
    expire_and_sweep(payment)
    assert payment.shown["phase"] == "abandoned"
    with payment.shop.scope():
        assert Order.objects.count() == 0
        assert InventoryLevel.objects.get().reserved == 0
    names = [event["type"] for event in payment.shop.admin.get("events.json").json()["events"]]
    assert [name for name in names if name.startswith("checkout")] == [
        "checkout.created",
        "checkout.payment_failed",
        "checkout.abandoned",
    ]


def test_customer_can_choose_another_method_after_cancelling(payment):
    payment.confirm({"cancel": True})

    chosen = payment.choose("bank_transfer")
    payment.start()
    confirmed = payment.confirm().json()["checkout"]

    assert chosen.json()["checkout"]["phase"] == "payment"
    assert confirmed["ready_to_complete"] is True
    assert [attempt.status for attempt in payment.attempts] == ["failed", "succeeded"]


def test_confirmed_payment_is_not_cancelled(payment):
    payment.confirm()

    answer = payment.confirm({"cancel": True})

    assert answer.json()["checkout"]["ready_to_complete"] is True
    assert [attempt.status for attempt in payment.attempts] == ["succeeded"]
    assert payment.complete().json()["checkout"]["phase"] == "completed"


@pytest.mark.parametrize("value", ["true", 1, False, None])
def test_only_true_cancels(payment, value):
    assert payment.confirm({"cancel": value}).json()["checkout"]["ready_to_complete"] is True
