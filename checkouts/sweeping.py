"""Overdue checkouts of every account: unpaid ones are abandoned, paid ones completed."""

import logging
from collections import defaultdict
from datetime import datetime

from django.db import connection

from checkouts.operations import complete_checkout, sweep_account
from commerce.errors import Refusal
from commerce.tenancy.scope import account_scope

logger = logging.getLogger(__name__)

BATCH = 500


def sweep_overdue_checkouts(*, now: datetime) -> int:
    """End one batch of overdue checkouts, each account's in transactions of its own; how many there were."""
    overdue = _overdue()
    for account_id, checkout_ids in overdue.items():
        with account_scope(account_id):
            paid_tokens = sweep_account(checkout_ids=checkout_ids, now=now)
        for token in paid_tokens:
            _complete(account_id, token, now=now)
    return sum(len(checkout_ids) for checkout_ids in overdue.values())


def _overdue() -> dict[int, list[int]]:
    by_account: defaultdict[int, list[int]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute("SELECT account_id, checkout_id FROM overdue_checkouts(%s)", [BATCH])
        for account_id, checkout_id in cursor.fetchall():
            by_account[account_id].append(checkout_id)
    return by_account


def _complete(account_id: int, token: str, *, now: datetime) -> None:
    """Complete a checkout whose customer did not come back after paying."""
    try:
        with account_scope(account_id):
            complete_checkout(token=token, now=now)
    except Refusal as refusal:
        # Its customer, or another sweeper, was quicker.
        logger.info("A paid checkout was not completed: %s", refusal.code)
