"""The effective status of a gift card: it may have expired before the sweeper updates the stored status."""

from datetime import datetime

from django.db.models import Q

from discounts.models import Voucher

Status = Voucher.Status

# Permanent, except that a disabled gift card may still be revoked for fraud.
FINAL = (Status.DISABLED, Status.REVOKED)


def effective_status(voucher: Voucher, now: datetime) -> str:
    """Return the effective status: an active gift card past its expiry is expired."""
    return compute_status(voucher.status, voucher.expires_at, now)


def compute_status(status: str, expires_at: datetime | None, now: datetime) -> str:
    """Like `effective_status`, from column values."""
    is_over = status == Status.ACTIVE and expires_at is not None and expires_at <= now
    return Status.EXPIRED if is_over else status


def matches_status(status: str, now: datetime) -> Q:
    """Match gift cards with this effective status."""
    overdue = Q(status=Status.ACTIVE, expires_at__lte=now)
    if status == Status.EXPIRED:
        return Q(status=status) | overdue
    # Spelled out instead of `~overdue`, since a negated comparison with null is null.
    if status == Status.ACTIVE:
        return Q(status=status) & (Q(expires_at__isnull=True) | Q(expires_at__gt=now))
    return Q(status=status)
