"""Outbox tasks for payments. A gateway is called with no scope open; its answer finishes the dispatch."""

from dataclasses import dataclass, replace
from functools import partial

from django.utils import timezone

from checkouts.models import CheckoutPaymentAttempt
from checkouts.operations.attempts import describe_payment, record_refund, settle_attempt
from checkouts.operations.payment import ask_gateway
from checkouts.phases import Phase
from commerce.orders.models import Order
from commerce.outbox.handlers import Outcome, handles, open_scope
from commerce.outbox.models import OutboxDispatch
from commerce.payments.connectors import get_gateway
from commerce.payments.gateway import Gateway, Payment

_SKIPPED = Outcome(OutboxDispatch.Status.SKIPPED)


@dataclass(frozen=True, slots=True)
class _Case:
    """An attempt that went to a gateway, and the payment to ask the gateway about."""

    attempt: CheckoutPaymentAttempt
    gateway: Gateway
    payment: Payment

    @property
    def is_wanted(self) -> bool:
        """Whether the payment would lead to an order. An ended checkout may still have an open attempt."""
        return self.attempt.is_open and self.attempt.checkout.phase == Phase.PROCESSING

    @property
    def may_have_open_page(self) -> bool:
        """Whether the attempt is open, or has failed while its gateway knows of a page for it."""
        is_failed = self.attempt.status == CheckoutPaymentAttempt.Status.FAILED
        return self.attempt.is_open or (is_failed and self.payment.reference is not None)

    @property
    def is_refunded(self) -> bool:
        """Whether the money has gone back, by the gateway or, for an order, by staff."""
        if self.attempt.refunded_at is not None:
            return True
        order = self.attempt.checkout.order
        # Money that came too late isn't the order's.
        is_of_order = self.attempt.status == CheckoutPaymentAttempt.Status.SUCCEEDED
        return is_of_order and order is not None and order.payment_status == Order.PaymentStatus.REFUNDED


@handles("settle_payment", area="orders")
def settle_payment(dispatch: OutboxDispatch) -> Outcome:
    """Ask for the state of a payment after its gateway reported a change; cancel it if it isn't wanted any more."""
    case = _load_case(dispatch)
    # A failed attempt is asked about as well: it may have been charged after it had been given up.
    if case is None or case.attempt.status == CheckoutPaymentAttempt.Status.SUCCEEDED:
        return _SKIPPED
    # It must not take money, not even of an approval, if the attempt has failed or its checkout has ended.
    return _ask_gateway(case, is_cancelled=not case.is_wanted)


@handles("cancel_payment", area="orders")
def cancel_payment(dispatch: OutboxDispatch) -> Outcome:
    """Close the page of a payment that is no longer needed."""
    case = _load_case(dispatch)
    if case is None or not case.may_have_open_page:
        return _SKIPPED
    return _ask_gateway(case, is_cancelled=True)


@handles("refund_payment", area="orders")
def refund_payment(dispatch: OutboxDispatch) -> Outcome:
    """Refund a payment that came too late, or whose order was cancelled."""
    case = _load_case(dispatch)
    if case is None or case.is_refunded:
        return _SKIPPED
    # Repeating it is safe if this process dies before the refund is recorded: the gateway refunds a payment once.
    reference = case.gateway.refund(case.payment)
    record = partial(record_refund, attempt_id=case.attempt.pk, reference=reference, now=timezone.now())
    return Outcome(record=record)


def _load_case(dispatch: OutboxDispatch) -> _Case | None:
    with open_scope(dispatch):
        attempts = CheckoutPaymentAttempt.objects.select_related("checkout__order")
        attempt = attempts.filter(pk=dispatch.payload["attempt_id"], gateway_key__isnull=False).first()
        if attempt is None:
            return None
        gateway, payment = get_gateway(attempt.payment_method), describe_payment(attempt.checkout, attempt)
    # If the answer to the first call was lost, an event may bring the gateway's reference.
    reference = payment.reference or dispatch.payload.get("reference")
    return _Case(attempt, gateway, replace(payment, reference=reference))


def _ask_gateway(case: _Case, *, is_cancelled: bool) -> Outcome:
    report = ask_gateway(case.gateway, case.payment, is_cancelled=is_cancelled)
    record = partial(
        settle_attempt,
        token=case.attempt.checkout.token,
        attempt_id=case.attempt.pk,
        report=report,
        now=timezone.now(),
    )
    return Outcome(record=record)
