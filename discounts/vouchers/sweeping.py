"""Expires overdue gift cards of every account."""

import time
from collections.abc import Sequence
from datetime import datetime

from commerce.events.operations import publish_many
from commerce.loops.operations import continue_after_failure, find_due_rows, forget_postponed, handle_rows
from commerce.tenancy.locks import lock
from discounts.models import Voucher

from .occurrences import build_ended_event
from .statuses import Status

LOOP = "vouchers"
BATCH = 500


def expire_overdue_vouchers(*, now: datetime, within_s: float = 0) -> int:
    """Expire batches until one isn't full or time is up. Returns how many gift cards expired.

    Each account has its own transaction. Gift cards that fail are postponed.
    """
    deadline = time.monotonic() + within_s
    expired = 0
    is_full = True
    while is_full:
        overdue = find_due_rows("SELECT account_id, voucher_id FROM expired_vouchers(%s)", batch=BATCH)
        for account_id, voucher_ids in overdue.items():
            with continue_after_failure(LOOP, account=account_id):
                counts = handle_rows(
                    LOOP,
                    account_id=account_id,
                    row_ids=voucher_ids,
                    work=lambda ids: expire_vouchers(voucher_ids=ids, now=now),
                )
                expired += sum(counts)
        found = sum(len(voucher_ids) for voucher_ids in overdue.values())
        is_full = found == BATCH and time.monotonic() < deadline
    return expired


def expire_vouchers(*, voucher_ids: Sequence[int], now: datetime) -> int:
    """Expire those gift cards that are overdue. Skips locked rows: the next run will see them."""
    # Checked again under the lock: a gift card may have been used up or disabled since it was found.
    overdue = Voucher.objects.filter(pk__in=voucher_ids, status=Status.ACTIVE, expires_at__lte=now)
    vouchers = list(lock(overdue.order_by("pk"), skips_locked=True))
    if vouchers:
        ids = [voucher.pk for voucher in vouchers]
        Voucher.objects.filter(pk__in=ids).update(status=Status.EXPIRED, updated_at=now)
        publish_many(
            occurrences=[build_ended_event("voucher.expired", voucher) for voucher in vouchers], now=now
        )
    forget_postponed(LOOP, voucher_ids)
    return len(vouchers)
