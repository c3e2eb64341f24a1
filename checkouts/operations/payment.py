"""Paying: a method is chosen, a payment started, and its outcome confirmed."""

from datetime import datetime
from typing import Any

from checkouts.errors import PaymentMethodNotSupported
from checkouts.models import Checkout, CheckoutPaymentAttempt
from checkouts.phases import Phase
from checkouts.queries import CheckoutView, lines_of, lock_checkout_for
from commerce.errors import ValidationFailed
from commerce.events.operations import publish
from commerce.payments.connectors import Connector, connector_codes, get_connector

from .holds import hold_scarce, release_payment_holds
from .pricing import PRICED, apply_totals, reprice


def choose_payment_method(*, token: str, payment_method: str, now: datetime) -> CheckoutView:
    """Choose how to pay. The first choice freezes the totals: another one changes no more than the fee.

    Raises `PaymentMethodNotSupported`, and as `lock_checkout_for` does.
    """
    checkout = lock_checkout_for("payment_method", token, now=now)
    connector = get_connector(payment_method)
    if connector is None:
        raise PaymentMethodNotSupported("There is no such payment method.", supported=connector_codes())
    if not connector.accepts(checkout.shipping_method or {}):
        raise PaymentMethodNotSupported("The shipping method can't be paid so.", supported=connector_codes())
    view = CheckoutView(checkout, lines_of(checkout))
    checkout.payment_method = payment_method
    price = reprice if checkout.phase == Phase.SHIPPING else apply_totals
    price(checkout, view.lines, now=now)
    checkout.phase = Phase.PAYMENT
    checkout.failure_code = None
    checkout.save(update_fields=["payment_method", "phase", "failure_code", "updated_at", *PRICED])
    return view


def start_payment(
    *, token: str, return_url: str | None, cancel_url: str | None, now: datetime
) -> tuple[CheckoutView, CheckoutPaymentAttempt]:
    """Begin paying what is due. Raises `ValidationFailed` where the connector needs an address to return to."""
    checkout = lock_checkout_for("start_payment", token, now=now)
    connector = _connector_of(checkout)
    if connector.needs_return_url and not (return_url and cancel_url):
        raise ValidationFailed.of("return_url", "required", "This payment method redirects the customer.")
    view = CheckoutView(checkout, lines_of(checkout))
    hold_scarce(checkout, view.lines, now=now)
    started = connector.start(amount_cents=checkout.amount_due_cents, currency=checkout.currency)
    attempt = CheckoutPaymentAttempt.objects.create(
        checkout=checkout,
        payment_method=connector.code,
        status=_status_of_start(started.redirect_url),
        amount_cents=checkout.amount_due_cents,
        currency=checkout.currency,
        redirect_url=started.redirect_url,
        provider_reference=started.provider_reference,
        return_url=return_url or "",
        cancel_url=cancel_url or "",
    )
    checkout.phase = Phase.PROCESSING
    checkout.save(update_fields=["phase", "is_stock_reserved", "updated_at"])
    return view, attempt


def confirm_payment(*, token: str, callback_payload: dict[str, Any], now: datetime) -> CheckoutView:
    """Ask the connector for the outcome. Success makes the checkout ready to complete; repeated, nothing changes."""
    checkout = lock_checkout_for("confirm", token, now=now)
    view = CheckoutView(checkout, lines_of(checkout))
    if checkout.ready_to_complete:
        return view
    attempt = CheckoutPaymentAttempt.objects.filter(checkout=checkout).latest("pk")
    outcome = _connector_of(checkout).confirm(
        provider_reference=attempt.provider_reference, callback_payload=callback_payload
    )
    attempt.confirmed_at = now
    if outcome.succeeded:
        attempt.status = CheckoutPaymentAttempt.Status.SUCCEEDED
        checkout.ready_to_complete = True
    else:
        attempt.status = CheckoutPaymentAttempt.Status.FAILED
        attempt.failure_code = checkout.failure_code = outcome.failure_code
        checkout.phase = Phase.FAILED
        release_payment_holds([checkout])
        _publish_failure(checkout, now=now)
    attempt.save(update_fields=["status", "failure_code", "confirmed_at"])
    checkout.save(update_fields=["ready_to_complete", "failure_code", "phase", "updated_at"])
    return view


def _connector_of(checkout: Checkout) -> Connector:
    connector = get_connector(checkout.payment_method or "")
    if connector is None:
        raise PaymentMethodNotSupported(
            "The payment method is no longer offered.", supported=connector_codes()
        )
    return connector


def _status_of_start(redirect_url: str | None) -> str:
    statuses = CheckoutPaymentAttempt.Status
    return statuses.REQUIRES_ACTION if redirect_url else statuses.PENDING


def _publish_failure(checkout: Checkout, *, now: datetime) -> None:
    data = {
        "checkout_id": str(checkout.pk),
        "checkout_token": checkout.token,
        "payment_method": checkout.payment_method,
        "failure_code": checkout.failure_code,
    }
    publish(type="checkout.payment_failed", data=data, now=now)
