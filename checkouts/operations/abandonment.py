"""Ending sessions that were not completed: what they hold goes back on sale."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q

from checkouts.models import Checkout
from checkouts.phases import OPEN_PHASES, Phase
from commerce.events.operations import publish_many
from commerce.inventory.reservations import release

from .holds import release_payment_holds


def abandon_checkouts(checkouts: Sequence[Checkout], *, now: datetime) -> None:
    """Abandon open checkouts that the caller has locked, and release all they hold, in a fixed number of statements."""
    if checkouts:
        mark_abandoned(checkouts, now=now)
        release(checkout_ids=[checkout.pk for checkout in checkouts])


def mark_abandoned(checkouts: Sequence[Checkout], *, now: datetime) -> None:
    """The same for a caller that releases the stock itself."""
    release_payment_holds([checkout for checkout in checkouts if checkout.phase == Phase.PROCESSING])
    ids = [checkout.pk for checkout in checkouts]
    Checkout.objects.filter(pk__in=ids).update(phase=Phase.ABANDONED, is_stock_reserved=False, updated_at=now)
    publish_many(
        occurrences=[("checkout.abandoned", _event_data(checkout)) for checkout in checkouts], now=now
    )


def sweep_account(*, checkout_ids: Sequence[int], now: datetime) -> list[str]:
    """Abandon those of an account's checkouts whose time is over; the tokens of the paid ones, to be completed.

    Rows that another sweeper or a customer's request holds are left to them.
    """
    overdue = Q(pk__in=checkout_ids, phase__in=OPEN_PHASES, expires_at__lte=now)
    locked = list(Checkout.objects.select_for_update(skip_locked=True).filter(overdue).order_by("pk"))
    abandon_checkouts([checkout for checkout in locked if not checkout.ready_to_complete], now=now)
    return [checkout.token for checkout in locked if checkout.ready_to_complete]


def _event_data(checkout: Checkout) -> dict[str, str]:
    return {
        "checkout_id": str(checkout.pk),
        "checkout_token": checkout.token,
        "cart_id": str(checkout.cart_id),
        "email": checkout.email,
        "phase": checkout.phase,
    }
