"""Stripe Checkout Sessions, by card only: such a session is paid at once or not at all.

Every POST carries an idempotency key derived from the payment's, which Stripe keeps for at least a day, so a call
whose answer was lost can be repeated. Source: Stripe's API reference, "Idempotent requests".
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import requests
import stripe
from django.conf import settings
from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NewConnectionError

from commerce.configuration.registry import fits_header
from commerce.outside.adapters import BoundedAdapter
from commerce.outside.deadline import deadline
from commerce.outside.per_thread import keep_per_thread
from commerce.payments.gateway import (
    Gateway,
    GatewayRefused,
    GatewayUnreachable,
    OutcomeUnknown,
    Payment,
    Report,
    State,
)

from .amounts import NotChargeable, to_stripe_amount

CONNECT_TIMEOUT_S = 3
# For a whole call, including connecting and reading.
TOTAL_TIMEOUT_S = 10
# Stripe's minimum is half an hour. If the checkout ends earlier, its session is cancelled then.
SHORTEST_SESSION = timedelta(minutes=45)


class StripeCheckout(Gateway):
    def __init__(self, *, secret_key: str) -> None:
        self._secret_key = secret_key

    def start(self, payment: Payment) -> Report:
        # Built from the frozen attempt only: Stripe refuses other parameters under the same idempotency key.
        price = {
            "currency": payment.currency.lower(),
            "unit_amount": _convert_amount(payment),
            "product_data": {"name": "Order"},
        }
        parameters = {
            "mode": "payment",
            "payment_method_types": ["card"],
            "line_items": [{"price_data": price, "quantity": 1}],
            # Otherwise Stripe may convert to the currency of the customer's country.
            "adaptive_pricing": {"enabled": False},
            "customer_email": payment.email,
            "client_reference_id": str(payment.attempt_id),
            "success_url": payment.return_url,
            "cancel_url": payment.cancel_url,
            "expires_at": int(max(payment.expires_at, payment.started_at + SHORTEST_SESSION).timestamp()),
            "metadata": _make_metadata(payment),
            "payment_intent_data": {"metadata": _make_metadata(payment)},
        }
        session = _call(
            lambda: self._api.checkout.sessions.create(
                parameters, {"idempotency_key": f"{payment.key}-session"}
            )
        )
        return _read_report(session, payment)

    def report(self, payment: Payment) -> Report:
        session = _call(lambda: self._api.checkout.sessions.retrieve(str(payment.reference)))
        return _read_report(session, payment)

    def cancel(self, payment: Payment) -> Report:
        report = self.report(payment)
        if report.state is not State.OPEN:
            return report
        try:
            session = _call(lambda: self._api.checkout.sessions.expire(str(payment.reference)))
        except GatewayRefused:
            # It was paid or has expired since we read it.
            return self.report(payment)
        return _read_report(session, payment)

    def refund(self, payment: Payment) -> str:
        session = _call(lambda: self._api.checkout.sessions.retrieve(str(payment.reference)))
        parameters = {
            "payment_intent": session.get("payment_intent"),
            "metadata": _make_metadata(payment),
        }
        options = {"idempotency_key": f"{payment.key}-refund"}
        try:
            refund = _call(lambda: self._api.refunds.create(parameters, options))
        except GatewayRefused as refused:
            # It was refunded in Stripe's dashboard, or by an earlier call whose key Stripe has forgotten.
            if getattr(refused.__cause__, "code", None) != "charge_already_refunded":
                raise
            refund = self._find_refund(session)
        return str(refund["id"])

    def _find_refund(self, session: dict[str, Any]) -> dict[str, Any]:
        """Find the last refund of a session's payment. Raises `OutcomeUnknown` if there is none."""
        parameters = {"payment_intent": session.get("payment_intent"), "limit": 100}
        answer = _send(lambda: self._api.refunds.list(parameters))
        refunds = answer.get("data")
        # The newest comes first. Those that failed or were cancelled gave nothing back.
        for refund in refunds if isinstance(refunds, list) else []:
            if refund.get("status") not in {"failed", "canceled"} and _is_text(refund.get("id")):
                return refund
        raise OutcomeUnknown(f"Stripe names no refund of the session {session['id']}, but refuses another.")

    @property
    def _api(self) -> Any:
        # Keys that were stored by earlier releases weren't checked for this.
        if not fits_header(self._secret_key):
            raise GatewayUnreachable("Stripe's secret key has characters that can't be sent.")
        client = stripe.StripeClient(
            self._secret_key,
            http_client=_make_http_client(),
            base_addresses={"api": settings.STRIPE_API_BASE},
            # A customer is waiting: the next request or dispatch will retry.
            max_network_retries=0,
        )
        # Untyped: the SDK's types lack `payment_method_types`.
        return client.v1


@keep_per_thread(maxsize=64)
def _make_http_client() -> stripe.RequestsClient:
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, BoundedAdapter())
    return stripe.RequestsClient(timeout=(CONNECT_TIMEOUT_S, TOTAL_TIMEOUT_S), session=session)


def _make_metadata(payment: Payment) -> dict[str, str]:
    names = ("account_id", "checkout_id", "attempt_id")
    return {name: str(getattr(payment, name)) for name in names}


def _convert_amount(payment: Payment) -> int:
    try:
        return to_stripe_amount(payment.amount_cents, payment.currency)
    except NotChargeable as error:
        raise GatewayRefused(str(error)) from error


def _call(call: Callable[[], Any]) -> dict[str, Any]:
    """Like `_send`, for calls that are answered with one object, which has an id."""
    answer = _send(call)
    if not _is_text(answer.get("id")):
        raise OutcomeUnknown("Stripe's answer names no object.")
    return answer


def _send(call: Callable[[], Any]) -> dict[str, Any]:
    """Call Stripe, and return its answer as plain data. Raises the `GatewayError` that tells whether the call may have taken effect."""
    try:
        with deadline(TOTAL_TIMEOUT_S):
            return call().to_dict()
    except stripe.APIConnectionError as error:
        raise (GatewayUnreachable if _is_unsent(error) else OutcomeUnknown)(str(error)) from error
    # Turned away before anything happened. A retry may succeed: the key can be corrected, and the rate limit passes.
    except (stripe.AuthenticationError, stripe.PermissionError, stripe.RateLimitError) as error:
        raise GatewayUnreachable(str(error)) from error
    except (stripe.InvalidRequestError, stripe.CardError) as error:
        raise GatewayRefused(str(error)) from error
    except (stripe.StripeError, AttributeError, TypeError, ValueError) as error:
        raise OutcomeUnknown(f"Stripe gave no usable answer: {error}") from error


def _is_text(value: object, *, longest: int = 255) -> bool:
    """Whether a value can be stored as text."""
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= longest


def _is_unsent(error: stripe.APIConnectionError) -> bool:
    """Whether connecting failed. If a connection broke later, the request may have arrived."""
    cause = error.__cause__
    reason = cause.args[0] if cause and cause.args else None
    if isinstance(reason, MaxRetryError):
        reason = reason.reason
    return isinstance(reason, NewConnectionError | ConnectTimeoutError)


def _read_report(session: dict[str, Any], payment: Payment) -> Report:
    reference, url, status = session["id"], session.get("url"), session.get("status")
    # An event names its session and the attempt separately, so they may not belong together.
    if session.get("client_reference_id") != str(payment.attempt_id):
        raise OutcomeUnknown(f"Stripe's session {reference} belongs to another payment.")
    if status == "complete" and session.get("payment_status") == "paid":
        paid = (session.get("amount_total"), str(session.get("currency")).upper())
        if paid == (_convert_amount(payment), payment.currency):
            return Report(state=State.SUCCEEDED, reference=reference)
        return Report(
            state=State.FAILED, reference=reference, failure_code="amount_mismatch", is_charged_anyway=True
        )
    if status == "expired":
        return Report(state=State.FAILED, reference=reference, failure_code="payment_abandoned")
    if status == "open" and _is_text(url, longest=4096):
        return Report(state=State.OPEN, reference=reference, redirect_url=url)
    # Complete but not paid, which doesn't happen with cards. It may still be paid, so the attempt stays open.
    if status == "complete":
        return Report(state=State.OPEN, reference=reference)
    raise OutcomeUnknown(f"Stripe's session {reference} is in an unknown state.")
