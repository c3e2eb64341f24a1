"""Payment attempts. Their outcome is recorded once, under the checkout's lock.

A customer's confirmation, a gateway's event and the expiry of the checkout each lead to a report from the gateway,
which may come late or twice. Money is never kept without an order: a payment for a failed attempt or an ended checkout is
recorded and refunded.
"""

from datetime import datetime
from typing import Literal

from django.db.models import QuerySet

from checkouts.models import Checkout, CheckoutPaymentAttempt
from checkouts.phases import Phase
from checkouts.queries import LoadedCheckout, lock_with_attempt
from commerce.configuration.queries import read_setting
from commerce.events.operations import publish
from commerce.orders.cancellation import Cancellation, on_cancellation
from commerce.orders.errors import RefundUnderWay
from commerce.orders.models import Order
from commerce.orders.operations import mark_order_refunded
from commerce.orders.refunding import register_refund_check
from commerce.outbox.models import KeySpace, OutboxDispatch
from commerce.outbox.operations import enqueue
from commerce.payments.gateway import Payment, Report, State
from commerce.tenancy.instances import post_columns
from commerce.tenancy.locks import lock
from commerce.tenancy.models import account_of

from .holds import release_scarce

Status = CheckoutPaymentAttempt.Status

# A dispatch in one of these may still run, or is running.
RUNNABLE = (OutboxDispatch.Status.PENDING, OutboxDispatch.Status.PROCESSING)

PAID_TOO_LATE = "paid_too_late"
REPLACED = "replaced"


def describe_payment(checkout: Checkout, attempt: CheckoutPaymentAttempt) -> Payment:
    """Describe an attempt for its gateway."""
    return Payment(
        key=str(attempt.gateway_key),
        account_id=account_of(checkout),
        checkout_id=checkout.pk,
        attempt_id=attempt.pk,
        amount_cents=attempt.amount_cents,
        currency=attempt.currency,
        email=checkout.email,
        return_url=attempt.return_url,
        cancel_url=attempt.cancel_url,
        started_at=attempt.created_at,
        expires_at=checkout.expires_at,
        reference=attempt.provider_reference,
    )


def settle_attempt(
    *, token: str, attempt_id: int, report: Report, now: datetime
) -> tuple[LoadedCheckout, CheckoutPaymentAttempt]:
    """Lock the checkout, apply a gateway's report on an attempt, and return both."""
    loaded, attempt = lock_with_attempt(token)
    if attempt is None or attempt.pk != attempt_id:
        # A late report on an attempt that was followed by another.
        attempt = CheckoutPaymentAttempt.objects.get(pk=attempt_id)
    settle(loaded.checkout, attempt, report, now=now)
    return loaded, attempt


def settle(checkout: Checkout, attempt: CheckoutPaymentAttempt, report: Report, *, now: datetime) -> None:
    """Like `settle_attempt`, for a caller that locked the checkout and read the attempt under that lock."""
    if attempt.status == Status.FAILED:
        # It stays failed: what it held may belong to others by now, and the customer may have started another attempt.
        _undo_failed(attempt, report, now=now)
    elif attempt.status == Status.SUCCEEDED:
        # The confirmation, an event and the sweeper may all bring the same report.
        return
    elif report.may_be_paid:
        attempt.status = Status.REQUIRES_ACTION
        attempt.provider_reference = report.reference
        # A report may say nothing about the page, which is shown again for as long as it is open.
        attempt.redirect_url = report.redirect_url or attempt.redirect_url
        attempt.save(update_fields=["status", "provider_reference", "redirect_url"])
    elif report.state is State.FAILED:
        # A failure without a reference means that no page was opened. It must not fail a page opened by another call.
        if report.reference or not attempt.provider_reference:
            _fail(checkout, attempt, report, code=report.failure_code, now=now)
    elif checkout.phase == Phase.PROCESSING:
        attempt.status = Status.SUCCEEDED
        _save_outcome(attempt, report, now=now)
        # Not completed here: the customer may be about to come back and do it, and otherwise the sweeper does.
        checkout.ready_to_complete = True
        checkout.sweep_after = None
        post_columns(checkout, ["ready_to_complete", "sweep_after", "updated_at"])
    else:
        _fail(checkout, attempt, report, code=PAID_TOO_LATE, now=now)


def give_up_attempts(checkout: Checkout, *, now: datetime) -> None:
    """Fail the open attempts of a checkout that isn't being paid, and close their pages at the gateway.

    The caller must have locked the checkout.
    """
    if checkout.phase == Phase.PROCESSING:
        return
    for attempt in checkout.payment_attempts.filter(status__in=[Status.PENDING, Status.REQUIRES_ACTION]):
        attempt.status, attempt.failure_code, attempt.confirmed_at = Status.FAILED, REPLACED, now
        attempt.save(update_fields=["status", "failure_code", "confirmed_at"])
        # Without a reference, no page is known that could be closed. If one is reported later, `settle` closes it.
        if attempt.gateway_key and attempt.provider_reference:
            _enqueue("cancel_payment", attempt, now=now)


def record_refund(*, attempt_id: int, reference: str, now: datetime) -> None:
    """Record the refund of an attempt that was paid too late, or whose order was cancelled."""
    attempt = CheckoutPaymentAttempt.objects.select_related("checkout").get(pk=attempt_id)
    attempt.refunded_at = now
    attempt.refund_reference = reference
    attempt.save(update_fields=["refunded_at", "refund_reference"])
    order_id = attempt.checkout.order_id
    # Money that came too late belongs to no order, even if another attempt of the checkout led to one.
    if attempt.status == Status.SUCCEEDED and order_id is not None:
        mark_order_refunded(order_id=order_id, actor=f"payment:{attempt_id}", now=now)


@on_cancellation
def refund_cancelled(cancelled: Cancellation) -> None:
    """Enqueue the refund of what was paid at a gateway for a cancelled order."""
    for attempt in _find_paid_at_gateway(cancelled.order):
        _enqueue("refund_payment", attempt, now=cancelled.now)
        cancelled.is_refunded_later = True


@register_refund_check
def require_no_refund_under_way(order: Order) -> None:
    """Raise `RefundUnderWay` if the order's gateway may still refund it: the customer would get the money twice."""
    keys = [_make_refund_key(attempt) for attempt in _find_paid_at_gateway(order)]
    refunds = OutboxDispatch.objects.filter(key_space=KeySpace.PRODUCT, idempotency_key__in=keys)
    # Locked, so that an ended one isn't retried until the order is marked; the retry then finds it refunded. A worker
    # that closes one locks it before the order, so this doesn't wait.
    locked = lock(refunds.exclude(status__in=RUNNABLE), skips_locked=True)
    ended = {dispatch.pk for dispatch in locked}
    for dispatch in refunds:
        if dispatch.pk not in ended:
            detail = (
                "Wait for the refund. If you refund the customer in another way, first cancel its dispatch."
            )
            raise RefundUnderWay(detail, dispatch_id=dispatch.pk)


def _find_paid_at_gateway(order: Order) -> QuerySet[CheckoutPaymentAttempt]:
    return CheckoutPaymentAttempt.objects.filter(
        checkout_id=order.checkout_id, status=Status.SUCCEEDED, gateway_key__isnull=False
    )


def _fail(
    checkout: Checkout, attempt: CheckoutPaymentAttempt, report: Report, *, code: str | None, now: datetime
) -> None:
    attempt.status = Status.FAILED
    attempt.failure_code = code
    _save_outcome(attempt, report, now=now)
    if report.is_charged:
        _return_money(attempt, report, now=now)
    # A checkout that has ended meanwhile stays as it is, and has released everything.
    if checkout.phase == Phase.PROCESSING:
        checkout.phase = Phase.FAILED
        checkout.failure_code = code
        checkout.sweep_after = None
        # Only what this payment has reserved is released, not stock that was reserved when the checkout was created.
        release_scarce(checkout, keeps_stock=read_setting("commerce.checkout.reserve_at") == "checkout_enter")
        columns = ["phase", "failure_code", "sweep_after", "is_stock_reserved", "updated_at"]
        post_columns(checkout, columns)
        data = {
            "checkout_id": checkout.pk,
            "checkout_token": checkout.token,
            "payment_method": attempt.payment_method,
            "failure_code": attempt.failure_code,
        }
        publish(type="checkout.payment_failed", data=data, now=now)


def _save_outcome(attempt: CheckoutPaymentAttempt, report: Report, *, now: datetime) -> None:
    attempt.confirmed_at = now
    # A report without a reference must not erase the one that a refund will need.
    attempt.provider_reference = report.reference or attempt.provider_reference
    post_columns(attempt, ["status", "failure_code", "confirmed_at", "provider_reference"])


def _undo_failed(attempt: CheckoutPaymentAttempt, report: Report, *, now: datetime) -> None:
    """Reverse what happened to a failed attempt: refund a charge, close a page that turned out to be open."""
    if report.is_charged:
        _return_money(attempt, report, now=now)
    elif report.may_be_paid:
        attempt.provider_reference = report.reference
        attempt.save(update_fields=["provider_reference"])
        _enqueue("cancel_payment", attempt, now=now)


def _return_money(attempt: CheckoutPaymentAttempt, report: Report, *, now: datetime) -> None:
    """Record money that must not be kept, and enqueue its refund, once."""
    if attempt.paid_late_at is not None:
        return
    attempt.paid_late_at = now
    attempt.provider_reference = report.reference or attempt.provider_reference
    attempt.save(update_fields=["paid_late_at", "provider_reference"])
    _enqueue("refund_payment", attempt, now=now)


def _enqueue(
    task_name: Literal["cancel_payment", "refund_payment"], attempt: CheckoutPaymentAttempt, *, now: datetime
) -> None:
    """Enqueue a refund, once for each attempt, or closing a failed attempt's page, once for each page."""
    key = _make_refund_key(attempt)
    if task_name == "cancel_payment":
        # The key contains the page's reference, because another page of the same attempt may turn up later.
        key = f"{task_name}/{attempt.pk}/{attempt.provider_reference}"
    enqueue(task_name=task_name, payload={"attempt_id": attempt.pk}, idempotency_key=key, now=now)


def _make_refund_key(attempt: CheckoutPaymentAttempt) -> str:
    return f"refund_payment/{attempt.pk}"
