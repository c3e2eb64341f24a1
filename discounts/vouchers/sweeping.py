"""Gift cards of every account whose time is over."""

from collections import defaultdict
from datetime import datetime

from django.db import connection

from commerce.events.operations import publish_many
from commerce.tenancy.scope import account_scope
from discounts.models import Voucher

from .occurrences import ended
from .statuses import Status

BATCH = 500


def expire_overdue_vouchers(*, now: datetime) -> int:
    """Expire one batch, each account's in a transaction of its own; how many there were."""
    expired = 0
    for account_id, voucher_ids in _overdue().items():
        with account_scope(account_id):
            expired += expire_vouchers(voucher_ids=voucher_ids, now=now)
    return expired


def expire_vouchers(*, voucher_ids: list[int], now: datetime) -> int:
    """Note the end of those gift cards that are past their time. Rows that somebody else holds are left to them."""
    overdue = Voucher.objects.filter(pk__in=voucher_ids, status=Status.ACTIVE, expires_at__lte=now)
    vouchers = list(overdue.select_for_update(skip_locked=True, no_key=True).order_by("pk"))
    if vouchers:
        ids = [voucher.pk for voucher in vouchers]
        Voucher.objects.filter(pk__in=ids).update(status=Status.EXPIRED, updated_at=now)
        publish_many(occurrences=[ended("voucher.expired", voucher) for voucher in vouchers], now=now)
    return len(vouchers)


def _overdue() -> dict[int, list[int]]:
    by_account: defaultdict[int, list[int]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute("SELECT account_id, voucher_id FROM expired_vouchers(%s)", [BATCH])
        for account_id, voucher_id in cursor.fetchall():
            by_account[account_id].append(voucher_id)
    return by_account
