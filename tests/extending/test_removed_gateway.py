"""docs/extending.md, "Removing a gateway": one that was removed too early loses no money, and can be put back."""

import pytest
from django.utils import timezone

from checkouts.checks import check_gateways
from checkouts.models import Checkout
from checkouts.reconciliation import find_differences
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests.checkouts.payments.test_archived_shop import archive
from tests.extending.conftest import CONNECTOR
from tests.problems import problem


@pytest.fixture
def remove(wallet, settings):
    def remove_gateway():
        settings.PAYMENT_METHODS = [name for name in settings.PAYMENT_METHODS if name != CONNECTOR]

    return remove_gateway


@pytest.fixture
def put_back(settings):
    def put_gateway_back():
        settings.PAYMENT_METHODS = [*settings.PAYMENT_METHODS, CONNECTOR]

    return put_gateway_back


@pytest.fixture
def paid(payment, wallet):
    """A payment that is confirmed."""
    payment.start()
    wallet.payment["state"] = "approved"
    assert payment.confirm().json()["checkout"]["ready_to_complete"] is True
    return payment


def read_order(payment):
    (order,) = payment.shop.admin.get("orders.json").json()["orders"]
    return order["status"], order["payment_status"]


def make_due(shop):
    with shop.scope():
        OutboxDispatch.objects.filter(status="pending").update(due_at=timezone.now())


def warnings():
    return [warning.msg for warning in check_gateways(databases=["default"])]


def test_order_stays_paid_until_the_gateway_is_back_and_refunds_it(paid, wallet, remove, put_back):
    order_id = paid.complete().json()["checkout"]["order_id"]
    remove()

    cancelled = paid.shop.admin.post(f"orders/{order_id}/cancel.json", {}).json()["order"]
    run_due()
    meanwhile = (read_order(paid), wallet.payment.get("is_refunded"))
    (refund,) = (
        dispatch
        for dispatch in paid.shop.admin.get("outbox_dispatches.json").json()["outbox_dispatches"]
        if dispatch["target"]["task_name"] == "refund_payment"
    )
    put_back()
    make_due(paid.shop)
    run_due()

    assert (cancelled["status"], cancelled["payment_status"]) == ("cancelled", "paid")
    assert meanwhile == (("cancelled", "paid"), None)
    assert "PAYMENT_METHODS names no gateway for 'wallet' any more." in refund["last_error"]
    assert (read_order(paid), wallet.payment["is_refunded"]) == (("cancelled", "refunded"), True)
    with paid.shop.scope():
        assert list(find_differences()) == []


def test_checkout_that_is_paid_becomes_a_paid_order(paid, remove):
    remove()

    assert paid.complete().status_code == 200

    assert read_order(paid) == ("open", "paid")


def test_checkout_of_an_archived_shop_that_is_paid_becomes_a_paid_order(paid, remove):
    remove()
    archive(paid.shop)
    sweep_overdue_checkouts(now=timezone.now())

    with paid.shop.scope():
        checkout = Checkout.objects.select_related("order").get()
        assert (checkout.phase, checkout.order.payment_status) == ("completed", "paid")


def test_open_payment_waits_for_its_gateway(payment, wallet, remove, put_back):
    payment.start()
    remove()
    payment.let_expire()
    sweep_overdue_checkouts(now=timezone.now())
    run_due()

    without = payment.confirm()
    shown = payment.shown["phase"]
    put_back()
    wallet.payment["state"] = "captured"
    make_due(payment.shop)
    run_due()
    sweep_overdue_checkouts(now=timezone.now())

    assert (problem(without), without.json()["phase"]) == ((502, "payment_gateway_failed"), "processing")
    assert shown == "processing"
    assert read_order(payment) == ("open", "paid")


def test_payment_started_by_an_earlier_release_is_known_by_its_method(paid):
    with paid.shop.scope():
        Checkout.objects.update(uses_gateway=None)

    paid.complete()

    assert read_order(paid) == ("open", "paid")


def test_check_names_the_removed_method_until_its_money_is_settled(paid, remove, put_back):
    named = [
        "Payments by wallet are open or may have to be refunded, but PAYMENT_METHODS names no gateway for it."
    ]
    before = warnings()
    remove()
    ready = warnings()
    order_id = paid.complete().json()["checkout"]["order_id"]
    ordered = warnings()
    paid.shop.admin.post(f"orders/{order_id}/fulfill.json", {})

    assert (before, ready, ordered) == ([], named, named)
    assert read_order(paid) == ("closed", "paid")
    assert warnings() == []
    assert check_gateways(databases=None) == []


def test_check_names_a_method_with_an_open_payment(payment, remove):
    payment.start()
    remove()

    assert len(warnings()) == 1
