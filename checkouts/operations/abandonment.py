"""End checkouts that weren't completed, and release what they hold."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Q

from checkouts.models import Checkout, CheckoutPaymentAttempt
from checkouts.phases import OPEN_PHASES, Phase
from commerce.events.operations import publish_many
from commerce.inventory.reservations import release
from commerce.outbox.operations import enqueue_many
from commerce.tenancy.locks import lock

from .holds import release_payment_holds

# How long an overdue checkout waits for a gateway that doesn't answer. The dispatch asks at once and retries five times
# within three hours; after a day, no gateway's page can be paid any more.
GATEWAY_PATIENCE = timedelta(days=1)
# The columns needed to end a checkout.
ENDED_COLUMNS = (
    "token",
    "cart",
    "email",
    "phase",
    "payment_method",
    "uses_gateway",
    "amount_due_cents",
    "ready_to_complete",
    "discount_codes",
    "automatic_discounts",
)


def abandon_checkouts(checkouts: Sequence[Checkout], *, now: datetime) -> None:
    """Abandon open checkouts locked by the caller, and release what they hold, in a fixed number of statements."""
    if checkouts:
        mark_abandoned(checkouts, now=now)
        # Stock comes last in the order of locks, because most checkouts wait for it.
        release(checkout_ids=[checkout.pk for checkout in checkouts])


def mark_abandoned(checkouts: Sequence[Checkout], *, now: datetime) -> None:
    """Like `abandon_checkouts`, but the caller releases the stock."""
    # Only a payment in progress holds discounts and gift cards: one that fails releases them.
    release_payment_holds([checkout for checkout in checkouts if checkout.phase == Phase.PROCESSING])
    ids = [checkout.pk for checkout in checkouts]
    Checkout.objects.filter(pk__in=ids).update(
        phase=Phase.ABANDONED, is_stock_reserved=False, sweep_after=None, updated_at=now
    )
    _mask_card_codes(checkouts)
    # Enqueued, because no gateway is called in a transaction. What is paid until the page is closed will be refunded.
    _enqueue_cancellations(_find_attempts_at_gateways(checkouts), now=now)
    occurrences = [
        (
            "checkout.abandoned",
            {
                "checkout_id": checkout.pk,
                "checkout_token": checkout.token,
                "cart_id": checkout.cart_id,
                "email": checkout.email,
                # Where the shopper left. The rows in memory still have the phase before.
                "phase": checkout.phase,
            },
        )
        for checkout in checkouts
    ]
    publish_many(occurrences=occurrences, now=now)


def _mask_card_codes(checkouts: Sequence[Checkout]) -> None:
    """Keep only the end of gift cards' codes, which nobody needs to see in an ended checkout."""
    with_cards = [
        checkout
        for checkout in checkouts
        if any(applied.voucher_id is not None for applied in checkout.discount_codes)
    ]
    # Most checkouts have no gift card, and then no statement is sent.
    if with_cards:
        for checkout in with_cards:
            checkout.discount_codes = [applied.mask() for applied in checkout.discount_codes]
        Checkout.objects.bulk_update(with_cards, ["discount_codes"])


def sweep_account(*, checkout_ids: Sequence[int], now: datetime) -> list[Checkout]:
    """Abandon overdue checkouts of an account; return the paid ones, which the caller completes.

    If a gateway may have taken the money, a dispatch first asks it to close the payment, and the checkout waits. Rows
    locked by another sweeper or a customer's request are skipped.
    """
    # The whole condition of `overdue_checkouts` again, under the lock: another sweeper may just have asked a gateway.
    overdue = Checkout.objects.filter(pk__in=checkout_ids, phase__in=OPEN_PHASES, expires_at__lte=now)
    due = overdue.filter(Q(sweep_after__isnull=True) | Q(sweep_after__lte=now)).order_by("pk")
    locked = list(lock(due, keys_too=True, skips_locked=True))
    unpaid = [checkout for checkout in locked if not checkout.ready_to_complete]
    # With `sweep_after`, the gateway has been asked already, and hasn't answered for a day.
    attempts = _find_attempts_at_gateways([checkout for checkout in unpaid if checkout.sweep_after is None])
    waiting = {attempt.checkout_id for attempt in attempts}
    if waiting:
        Checkout.objects.filter(pk__in=waiting).update(sweep_after=now + GATEWAY_PATIENCE)
        _enqueue_cancellations(attempts, now=now)
    abandon_checkouts([checkout for checkout in unpaid if checkout.pk not in waiting], now=now)
    return [checkout for checkout in locked if checkout.ready_to_complete]


def _find_attempts_at_gateways(checkouts: Sequence[Checkout]) -> list[CheckoutPaymentAttempt]:
    """Return the checkouts' attempts that may still be paid at a gateway."""
    ids = [checkout.pk for checkout in checkouts if checkout.phase == Phase.PROCESSING]
    statuses = (CheckoutPaymentAttempt.Status.PENDING, CheckoutPaymentAttempt.Status.REQUIRES_ACTION)
    attempts = CheckoutPaymentAttempt.objects.filter(
        checkout__in=ids, gateway_key__isnull=False, status__in=statuses
    )
    return list(attempts) if ids else []


def _enqueue_cancellations(attempts: Sequence[CheckoutPaymentAttempt], *, now: datetime) -> None:
    # Abandoning a checkout that the sweeper has waited for enqueues the same key, which makes no second dispatch.
    payloads = {f"cancel_payment/{attempt.pk}": {"attempt_id": attempt.pk} for attempt in attempts}
    enqueue_many(task_name="cancel_payment", payloads=payloads, now=now)
