"""Pay: choose a method, start a payment, confirm its outcome.

A gateway is called with no transaction open. One short transaction records the attempt, then the gateway is called,
then a second transaction records the answer (docs/architecture.md, "Payments"). A client may therefore see:

- The gateway refused or couldn't be reached: 502; attempt and phase are `failed`. The client chooses a payment method
  again and starts another attempt.
- The outcome of the call is unknown, or this process died: the attempt stays `pending`, the phase `processing`. Confirm
  asks again under the attempt's key, which stands for one payment at the gateway however often it is sent, and returns
  the payment page or the outcome. Repeating start_payment with the same Idempotency-Key does the same.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime

from django.db import IntegrityError

from checkouts.errors import CheckoutExpired, InvalidPhase
from checkouts.models import Checkout, CheckoutPaymentAttempt
from checkouts.phases import ALLOWED_PHASES, Phase
from checkouts.queries import (
    LoadedCheckout,
    effective_phase,
    lock_checkout,
    lock_checkout_for,
    lock_with_attempt,
    require_phase,
)
from commerce.errors import FieldError, ValidationFailed, constraint_of
from commerce.payments.connectors import Connector, Delivery, get_gateway, get_offered_connector
from commerce.payments.errors import PaymentGatewayFailed
from commerce.payments.gateway import (
    Gateway,
    GatewayError,
    GatewayRefused,
    OutcomeUnknown,
    Payment,
    Report,
    State,
)
from commerce.rest.errors import IdempotencyKeyReused
from commerce.tenancy.instances import insert_row, post_columns
from commerce.tenancy.scope import ScopeOpener, current_account_id
from commerce.tokens import generate_token
from commerce.waiting import Call, waiting_call

from .attempts import describe_payment, give_up_attempts, settle, settle_attempt
from .holds import has_spent_discount, hold_scarce
from .pricing import PRICED, apply_totals, reprice

# Seconds for all calls to a gateway within one request.
WITHIN_S = 12

Status = CheckoutPaymentAttempt.Status

# The outcomes of a payment without a gateway.
_CONFIRMED = Report(state=State.SUCCEEDED)
_CANCELLED = Report(state=State.FAILED, failure_code="payment_abandoned")


def choose_payment_method(*, token: str, payment_method: str, now: datetime) -> LoadedCheckout:
    """Choose how to pay. The first choice freezes the totals.

    A later choice changes the fee and what gift cards pay. Everything is priced again only if a discount has run out
    meanwhile, because that would block the payment.

    Raises `PaymentMethodNotSupported`, and whatever `lock_checkout_for` raises.
    """
    loaded = lock_checkout_for("payment_method", token, now=now)
    checkout = loaded.checkout
    _require_offered(checkout, payment_method)
    checkout.payment_method = payment_method
    # Later choices keep the prices, because the customer has been promised the total.
    is_first = checkout.phase == Phase.SHIPPING
    price = reprice if is_first or has_spent_discount(checkout) else apply_totals
    price(checkout, loaded.lines, now=now)
    checkout.phase = Phase.PAYMENT
    checkout.failure_code = None
    post_columns(checkout, ["payment_method", "phase", "failure_code", "updated_at", *PRICED])
    return loaded


def _require_offered(checkout: Checkout, payment_method: str) -> Connector:
    delivery = Delivery(method=checkout.shipping_method, point=checkout.pickup_point)
    return get_offered_connector(payment_method, delivery)


def start_payment(
    *,
    token: str,
    return_url: str | None,
    cancel_url: str | None,
    scope: ScopeOpener,
    now: datetime,
    key: str | None = None,
) -> tuple[LoadedCheckout, CheckoutPaymentAttempt]:
    """Start paying the amount due. Must be called with no scope open.

    Repeated with the same `key`, it continues that attempt, so that a client whose answer was lost gets its current
    state. The gateway is called under the attempt's own key. Raises `PaymentMethodNotSupported`, `ValidationFailed` if
    the gateway needs return addresses, `IdempotencyKeyReused`, `PaymentGatewayFailed`, `TooManyOutsideCalls`,
    and whatever `lock_checkout_for` and `hold_scarce` raise.
    """
    urls = {"return_url": return_url or "", "cancel_url": cancel_url or ""}
    try:
        return _start_once(token, urls, key=key, scope=scope, now=now)
    except IntegrityError as error:
        if constraint_of(error) != "checkout_payment_attempts_one_open":
            raise
    # An attempt is open although its checkout isn't being paid. No request causes this, but damaged data may.
    with scope():
        give_up_attempts(lock_checkout(token).checkout, now=now)
    return _start_once(token, urls, key=key, scope=scope, now=now)


def _start_once(
    token: str, urls: dict[str, str], *, key: str | None, scope: ScopeOpener, now: datetime
) -> tuple[LoadedCheckout, CheckoutPaymentAttempt]:
    with ExitStack() as waiting:
        with scope():
            loaded = lock_checkout(token)
            checkout = loaded.checkout
            attempt = _find_attempt_to_resume(checkout, urls, key=key, now=now)
            loaded = replace(loaded, is_replayed=attempt is not None)
            if attempt is None:
                attempt = _open_attempt(loaded, urls, key=key, now=now)
            # Only an attempt that is still pending may have no page at its gateway yet.
            if attempt.gateway_key is None or attempt.status != Status.PENDING:
                return loaded, attempt
            gateway, payment = get_gateway(attempt.payment_method), describe_payment(checkout, attempt)
            _reserve_call(gateway, waiting)
        try:
            report = gateway.start(payment)
        except OutcomeUnknown as error:
            # The attempt stays pending: failing it could leave a page open that the customer pays on.
            raise PaymentGatewayFailed(phase=Phase.PROCESSING.value) from error
        except GatewayError as error:
            report = Report(state=State.FAILED, failure_code=error.failure_code)
    after, attempt = _settle_and_load(token, attempt.pk, report, scope=scope, now=now)
    # Raised only now, since a refusal would have rolled back what has happened to the attempt.
    if report.state is State.FAILED or attempt.status == Status.FAILED:
        raise PaymentGatewayFailed(phase=after.checkout.phase)
    return replace(after, is_replayed=loaded.is_replayed), attempt


def confirm_payment(
    *, token: str, callback_payload: Mapping[str, object], scope: ScopeOpener, now: datetime
) -> tuple[LoadedCheckout, CheckoutPaymentAttempt]:
    """Ask the gateway for the outcome. Must be called with no scope open. Success makes the checkout ready to complete.

    An open payment stays open at its gateway. With `cancel` in the payload, it is cancelled instead of confirmed. Once
    there is an outcome, repeating the call changes nothing. Raises `PaymentGatewayFailed`, `TooManyOutsideCalls`, and
    whatever `lock_checkout_for` raises.
    """
    is_cancelled = callback_payload.get("cancel") is True
    with ExitStack() as waiting:
        with scope():
            loaded, attempt = lock_with_attempt(token)
            checkout = loaded.checkout
            require_phase(checkout, "confirm", now=now)
            if attempt is None:
                # A bug: the phase changes together with the first attempt.
                raise CheckoutPaymentAttempt.DoesNotExist
            # Nobody has to be asked: nothing is due, or the money comes on or after delivery.
            if attempt.gateway_key is None and attempt.is_open:
                settle(checkout, attempt, _CANCELLED if is_cancelled else _CONFIRMED, now=now)
            if not attempt.is_open:
                return loaded, attempt
            gateway, payment = get_gateway(attempt.payment_method), describe_payment(checkout, attempt)
            _reserve_call(gateway, waiting)
        try:
            report = ask_gateway(gateway, payment, is_cancelled=is_cancelled)
        except GatewayError as error:
            # Without an answer, nothing is known about the payment, so the attempt stays open.
            raise PaymentGatewayFailed(phase=Phase.PROCESSING.value) from error
    return _settle_and_load(token, attempt.pk, report, scope=scope, now=now)


def _reserve_call(gateway: Gateway, waiting: ExitStack) -> None:
    """Reserve one of the limited outside calls inside the transaction, so that a refusal rolls it back."""
    if gateway.is_outside:
        waiting.enter_context(waiting_call(Call.PAYMENT, current_account_id(), within_s=WITHIN_S))


def ask_gateway(gateway: Gateway, payment: Payment, *, is_cancelled: bool) -> Report:
    """Ask for the state of a payment, starting it first if that may not have happened.

    An approved payment is captured, or fails if that is refused. With `is_cancelled`, it is cancelled instead. Raises a
    `GatewayError`.
    """
    # Without a reference, the answer to the start was lost or it was never sent. The key makes repeating it safe.
    if payment.reference is None:
        try:
            started = gateway.start(payment)
        except GatewayRefused as refused:
            return Report(state=State.FAILED, failure_code=refused.failure_code)
        payment = replace(payment, reference=started.reference)
    if is_cancelled:
        return _cancel_payment(gateway, payment)
    report = gateway.report(payment)
    if report.state is not State.APPROVED:
        return report
    try:
        return gateway.capture(payment)
    except GatewayRefused as refused:
        # It would be refused again. The approval is given back, so that the customer can pay in another way. If another
        # call has captured the payment meanwhile, the gateway reports it as paid.
        report = _cancel_payment(gateway, payment)
        is_failed = report.state is State.FAILED
        return replace(report, failure_code=refused.failure_code) if is_failed else report


def _cancel_payment(gateway: Gateway, payment: Payment) -> Report:
    report = gateway.cancel(payment)
    # Not believed: the caller would abandon the checkout, and the customer could still pay.
    if report.may_be_paid:
        raise OutcomeUnknown("The gateway keeps a cancelled payment open.")
    return report


def _find_attempt_to_resume(
    checkout: Checkout, urls: dict[str, str], *, key: str | None, now: datetime
) -> CheckoutPaymentAttempt | None:
    """Find the attempt started by a request with this key that hasn't failed; None if there is none.

    Raises `IdempotencyKeyReused` if that request had other addresses, and whatever `require_phase` raises.
    """
    phase = effective_phase(checkout, now=now)
    if key is not None and phase in (Phase.PROCESSING, Phase.COMPLETED):
        attempts = CheckoutPaymentAttempt.objects.filter(checkout=checkout, start_key=key)
        attempt = attempts.exclude(status=Status.FAILED).first()
        if attempt is not None:
            # The gateway's page leads to the first addresses, and can't be given others.
            if any(getattr(attempt, name) != url for name, url in urls.items()):
                raise IdempotencyKeyReused
            return attempt
    if phase == Phase.PROCESSING:
        detail = "The payment is already started. Send confirm to get its outcome or the payment page."
        raise InvalidPhase(detail, phase=phase, allowed=[*ALLOWED_PHASES["start_payment"]])
    require_phase(checkout, "start_payment", now=now)
    return None


def _open_attempt(
    loaded: LoadedCheckout, urls: dict[str, str], *, key: str | None, now: datetime
) -> CheckoutPaymentAttempt:
    """Hold discounts, gift cards and stock, and record the attempt before the gateway is called."""
    checkout = loaded.checkout
    connector = _require_offered(checkout, checkout.payment_method or "")
    has_gateway = connector.gateway is not None and checkout.amount_due_cents > 0
    if has_gateway:
        missing = [
            FieldError(name, "required", "This payment method redirects the customer.")
            for name, url in urls.items()
            if not url
        ]
        if missing:
            raise ValidationFailed(errors=tuple(missing))
    hold_scarce(checkout, loaded.lines, now=now)
    checkout.phase = Phase.PROCESSING
    checkout.uses_gateway = has_gateway
    post_columns(checkout, ["phase", "uses_gateway", "is_stock_reserved", "updated_at"])
    attempt = CheckoutPaymentAttempt(
        checkout=checkout,
        payment_method=connector.code,
        amount_cents=checkout.amount_due_cents,
        currency=checkout.currency,
        **urls,
        gateway_key=generate_token() if has_gateway else None,
        start_key=key,
    )
    insert_row(attempt)
    return attempt


def _settle_and_load(
    token: str, attempt_id: int, report: Report, *, scope: ScopeOpener, now: datetime
) -> tuple[LoadedCheckout, CheckoutPaymentAttempt]:
    """Apply a report and load the rows. A payment is recorded even if the checkout has ended meanwhile."""
    with scope():
        loaded, attempt = settle_attempt(token=token, attempt_id=attempt_id, report=report, now=now)
    # Raised after the commit of what was reported.
    if loaded.checkout.phase == Phase.ABANDONED:
        raise CheckoutExpired
    return loaded, attempt
