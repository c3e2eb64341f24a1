"""Approved payments are captured while their checkout is being paid, and given back otherwise."""

import pytest
from django.utils import timezone

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.payments.gateway import GatewayRefused, OutcomeUnknown
from tests.checkouts.payments.test_archived_shop import archive
from tests.extending.conftest import replace_checkout, tell
from tests.extending.wallet.gateway import Wallet
from tests.problems import problem


def archive_shop(payment):
    archive(payment.shop)


@pytest.fixture
def refused_capture(payment, wallet, monkeypatch):
    """A started payment whose approval the wallet won't capture."""

    def refuse(gateway, asked):
        raise GatewayRefused("The customer has no money any more.")

    payment.start()
    wallet.payment["state"] = "approved"
    monkeypatch.setattr(Wallet, "capture", refuse)
    return payment


@pytest.mark.parametrize("end", [replace_checkout, archive_shop])
@pytest.mark.parametrize("is_told_before", [True, False])
def test_approval_for_an_ended_checkout_is_voided_though_cancelling_it_fails_first(
    payment, wallet, monkeypatch, end, is_told_before
):
    payment.start()
    if is_told_before:
        tell(payment)
    end(payment)
    with monkeypatch.context() as patch:
        patch.setattr(Wallet, "cancel", fail)
        run_due()
    left_open = payment.attempts[-1].status
    wallet.payment["state"] = "approved"

    if is_told_before:
        make_due(payment.shop)
    else:
        tell(payment)
    run_due()

    (attempt,) = payment.attempts
    assert left_open == "requires_action"
    assert "payments/capture" not in wallet.calls
    assert wallet.payment["state"] == "void"
    assert (attempt.status, attempt.failure_code) == ("failed", "payment_abandoned")
    assert attempt.paid_late_at is None


def fail(gateway, asked):
    raise OutcomeUnknown("No answer.")


def make_due(shop):
    with shop.scope():
        OutboxDispatch.objects.filter(status="pending").update(due_at=timezone.now())


def test_refused_capture_fails_the_payment_and_the_customer_can_pay_in_another_way(refused_capture, wallet):
    answer = refused_capture.confirm()

    checkout, attempt = answer.json()["checkout"], answer.json()["payment_attempt"]
    assert answer.status_code == 200
    assert (checkout["phase"], checkout["failure_code"]) == ("failed", "gateway_refused")
    assert (attempt["status"], attempt["failure_code"]) == ("failed", "gateway_refused")
    assert wallet.payment["state"] == "void"
    refused_capture.choose("bank_transfer")
    refused_capture.start()
    assert refused_capture.confirm().json()["checkout"]["ready_to_complete"] is True


def test_refused_capture_after_an_event_fails_the_payment(refused_capture, wallet):
    tell(refused_capture)

    run_due()

    assert refused_capture.shown["phase"] == "failed"
    assert wallet.payment["state"] == "void"


def test_capture_that_is_refused_because_another_call_has_made_it_counts(payment, wallet, monkeypatch):
    def refuse_after_another(gateway, asked):
        wallet.payment["state"] = "captured"
        raise GatewayRefused("It has been captured.")

    payment.start()
    wallet.payment["state"] = "approved"
    monkeypatch.setattr(Wallet, "capture", refuse_after_another)

    confirmed = payment.confirm().json()["checkout"]

    assert (confirmed["phase"], confirmed["ready_to_complete"]) == ("processing", True)
    assert wallet.payment["state"] == "captured"


def test_refused_capture_whose_approval_can_not_be_voided_is_asked_for_again(
    refused_capture, wallet, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(Wallet, "cancel", fail)
        first = refused_capture.confirm()

    second = refused_capture.confirm().json()["checkout"]

    assert (problem(first), first.json()["phase"]) == ((502, "payment_gateway_failed"), "processing")
    assert (second["phase"], second["failure_code"]) == ("failed", "gateway_refused")
