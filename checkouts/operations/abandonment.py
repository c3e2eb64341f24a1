"""Ending sessions that were not completed: what they hold goes back on sale."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from checkouts.models import Checkout, CheckoutPaymentAttempt
from checkouts.phases import OPEN_PHASES, Phase
from commerce.events.operations import publish_many
from commerce.inventory.reservations import release
from commerce.outbox.operations import enqueue_many

from .holds import release_payment_holds

# How long an overdue checkout is kept for a gateway that gives no answer. It is asked at once and, as every dispatch,
# five times more within three hours; by the end of the day no page of a gateway can be paid any more.
GATEWAY_PATIENCE = timedelta(days=1)
# What has to be known of a checkout to end it.
ENDED_COLUMNS = (
    "token",
    "cart",
    "email",
    "phase",
    "payment_method",
    "amount_due_cents",
    "ready_to_complete",
    "discount_codes",
    "automatic_discounts",
)


def abandon_checkouts(checkouts: Sequence[Checkout], *, now: datetime) -> None:
    """Abandon open checkouts that the caller has locked, and release all they hold, in a fixed number of statements."""
    if checkouts:
        mark_abandoned(checkouts, now=now)
        release(checkout_ids=[checkout.pk for checkout in checkouts])


def mark_abandoned(checkouts: Sequence[Checkout], *, now: datetime) -> None:
    """The same for a caller that releases the stock itself."""
    release_payment_holds([checkout for checkout in checkouts if checkout.phase == Phase.PROCESSING])
    ids = [checkout.pk for checkout in checkouts]
    Checkout.objects.filter(pk__in=ids).update(
        phase=Phase.ABANDONED, is_stock_reserved=False, sweep_after=None, updated_at=now
    )
    _cancel_payments(_find_attempts_at_gateways(checkouts), now=now)
    publish_many(
        occurrences=[("checkout.abandoned", _event_data(checkout)) for checkout in checkouts], now=now
    )


def sweep_account(*, checkout_ids: Sequence[int], now: datetime) -> list[Checkout]:
    """Abandon those of an account's checkouts whose time is over; the paid ones, to be completed.

    One with a payment at a gateway may have been paid there: the gateway is asked to close it first, by a dispatch.
    Rows that another sweeper or a customer's request holds are left to them.
    """
    overdue = Q(pk__in=checkout_ids, phase__in=OPEN_PHASES, expires_at__lte=now)
    locked = list(Checkout.objects.select_for_update(skip_locked=True).filter(overdue).order_by("pk"))
    unpaid = [checkout for checkout in locked if not checkout.ready_to_complete]
    waiting = _cancel_at_gateways([checkout for checkout in unpaid if checkout.sweep_after is None], now=now)
    abandon_checkouts([checkout for checkout in unpaid if checkout.pk not in waiting], now=now)
    return [checkout for checkout in locked if checkout.ready_to_complete]


def _cancel_at_gateways(checkouts: Sequence[Checkout], *, now: datetime) -> set[int]:
    """Ask gateways to cancel; return the ids of the checkouts that wait for an answer."""
    attempts = _find_attempts_at_gateways(checkouts)
    waiting = {attempt.checkout_id for attempt in attempts}
    if waiting:
        Checkout.objects.filter(pk__in=waiting).update(sweep_after=now + GATEWAY_PATIENCE)
        _cancel_payments(attempts, now=now)
    return waiting


def _find_attempts_at_gateways(checkouts: Sequence[Checkout]) -> list[CheckoutPaymentAttempt]:
    """Their attempts that may still be paid at a gateway."""
    ids = [checkout.pk for checkout in checkouts if checkout.phase == Phase.PROCESSING]
    statuses = (CheckoutPaymentAttempt.Status.PENDING, CheckoutPaymentAttempt.Status.REQUIRES_ACTION)
    attempts = CheckoutPaymentAttempt.objects.filter(
        checkout__in=ids, gateway_key__isnull=False, status__in=statuses
    )
    return list(attempts) if ids else []


def _cancel_payments(attempts: Sequence[CheckoutPaymentAttempt], *, now: datetime) -> None:
    payloads = {f"cancel_payment/{attempt.pk}": {"attempt_id": attempt.pk} for attempt in attempts}
    enqueue_many(task_name="cancel_payment", payloads=payloads, now=now)


def _event_data(checkout: Checkout) -> dict[str, Any]:
    return {
        "checkout_id": checkout.pk,
        "checkout_token": checkout.token,
        "cart_id": checkout.cart_id,
        "email": checkout.email,
        "phase": checkout.phase,
    }
