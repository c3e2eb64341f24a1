"""What the status of a gift card is at a moment: its time may be over before the sweeper notes it."""

from datetime import datetime

from django.db.models import Q

from discounts.models import Voucher

Status = Voucher.Status

# Neither is ever left again, except that fraud outranks the rest: a disabled gift card may still be revoked.
FINAL = (Status.DISABLED, Status.REVOKED)


def status_shown(voucher: Voucher, now: datetime) -> str:
    """The status as everybody sees it: past its time an active gift card is expired."""
    return shown(voucher.status, voucher.expires_at, now)


def shown(status: str, expires_at: datetime | None, now: datetime) -> str:
    """As `status_shown`, from the columns."""
    is_over = status == Status.ACTIVE and expires_at is not None and expires_at <= now
    return Status.EXPIRED if is_over else status


def with_status(status: str, now: datetime) -> Q:
    """The gift cards that show this status."""
    overdue = Q(status=Status.ACTIVE, expires_at__lte=now)
    if status == Status.EXPIRED:
        return Q(status=status) | overdue
    # Written out, as the negation of a comparison with null would be null.
    if status == Status.ACTIVE:
        return Q(status=status) & (Q(expires_at__isnull=True) | Q(expires_at__gt=now))
    return Q(status=status)
