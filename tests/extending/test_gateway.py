"""docs/extending.md, "Add a payment gateway": a folder and a line in the settings, without touching the product."""

import os
import subprocess
import sys

from django.utils import timezone

from checkouts.reconciliation import find_differences
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.outbox.worker import run_due
from config.openapi import add_webhooks
from tests.extending.conftest import KEY, replace_checkout, tell
from tests.extending.wallet.connector import API_KEY
from tests.problems import problem


def test_approved_payment_is_captured_when_it_is_confirmed(payment, wallet):
    started = payment.start()
    assert started.json()["payment_attempt"]["redirect_url"] == wallet.payment["url"]
    wallet.payment["state"] = "approved"

    confirmed = payment.confirm()

    assert confirmed.json()["checkout"]["ready_to_complete"] is True
    assert wallet.payment["state"] == "captured"
    assert payment.complete().status_code == 200
    assert wallet.calls == ["payments", "payments", "payments/capture"]


def test_payment_that_is_not_approved_stays_open(payment, wallet):
    payment.start()

    confirmed = payment.confirm()

    assert confirmed.json()["checkout"]["phase"] == "processing"
    assert wallet.payment["state"] == "open"


def test_approval_is_voided_when_the_customer_cancels(payment, wallet):
    payment.start()
    wallet.payment["state"] = "approved"

    cancelled = payment.confirm({"cancel": True})

    assert cancelled.json()["checkout"]["phase"] == "failed"
    assert wallet.payment["state"] == "void"


def test_event_of_the_gateway_captures_without_the_customer(payment, wallet):
    payment.start()
    wallet.payment["state"] = "approved"

    assert tell(payment).json() == {"received": True}
    run_due()

    assert payment.shown["ready_to_complete"] is True
    assert wallet.payment["state"] == "captured"


def test_event_after_the_checkout_has_ended_voids_the_approval_instead_of_taking_money(payment, wallet):
    payment.start()
    payment.let_expire()
    sweep_overdue_checkouts(now=timezone.now())
    run_due()
    sweep_overdue_checkouts(now=timezone.now())
    assert payment.shown["phase"] == "abandoned"
    wallet.payment["state"] = "approved"

    tell(payment)
    run_due()
    run_due()

    assert wallet.payment["state"] == "void"
    assert payment.attempts[-1].paid_late_at is None


def test_money_for_a_checkout_that_was_replaced_goes_back(payment, wallet):
    """The wallet's reports say no more than that the payment has succeeded."""
    payment.start()
    wallet.payment["state"] = "captured"
    replace_checkout(payment)

    run_due()

    (attempt,) = payment.attempts
    assert wallet.payment["is_refunded"] is True
    assert (attempt.status, attempt.failure_code) == ("failed", "paid_too_late")
    assert attempt.refund_reference == f"refund-{attempt.provider_reference}"
    with payment.shop.scope():
        assert list(find_differences()) == []


def test_refund_goes_by_the_gateway(payment, wallet):
    payment.start()
    wallet.payment["state"] = "approved"
    payment.confirm()
    path = f"orders/{payment.complete().json()['checkout']['order_id']}"

    assert payment.shop.admin.post(f"{path}/cancel.json", {}).status_code == 200
    run_due()

    assert wallet.payment["is_refunded"] is True
    assert payment.shop.admin.get(f"{path}.json").json()["order"]["payment_status"] == "refunded"


def test_event_with_a_wrong_signature_is_refused_and_other_events_are_ignored(payment, wallet):
    payment.start()

    assert problem(tell(payment, key="wrong")) == (401, "invalid_signature")
    assert tell(payment, about="weather").json() == {"received": True, "ignored": True}
    assert payment.shop.admin.get("outbox_dispatches.json").json()["outbox_dispatches"] == []


def test_shop_offers_the_wallet_once_its_key_is_set(shop, wallet):
    before = shop.admin.get("settings.json").json()["settings"]
    assert before[API_KEY] == ""

    shop.admin.put("settings.json", {"settings": {API_KEY: KEY}})

    assert shop.admin.get("settings.json").json()["settings"][API_KEY] == "********"


def test_installation_that_does_not_name_it_knows_nothing_of_the_wallet(shop):
    answer = shop.admin.put("settings.json", {"settings": {API_KEY: KEY}})

    assert answer.status_code == 422
    assert API_KEY not in shop.admin.get("settings.json").json()["settings"]


def test_document_describes_its_webhook(wallet):
    paths = add_webhooks({"paths": {}}, None, None, True)["paths"]

    assert "/webhooks/wallet/{account_id}" in paths
    assert "/webhooks/stripe/{account_id}" in paths


def test_connector_does_not_load_the_library_of_its_gateway():
    code = "import django; django.setup(); from commerce.payments.connectors import load_connectors; "
    code += "assert 'stripe' in load_connectors(); import sys; print('stripe' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"
