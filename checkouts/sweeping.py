"""End overdue checkouts of every account: abandon unpaid ones, complete paid ones."""

import logging
from collections.abc import Sequence
from datetime import datetime
from itertools import chain

from checkouts.errors import CheckoutAlreadyCompleted, CheckoutExpired
from checkouts.models import Checkout
from checkouts.operations import complete_checkout, sweep_account
from commerce.errors import NotFound
from commerce.loops.operations import (
    continue_after_failure,
    find_due_rows,
    forget_postponed,
    handle_rows,
    is_server_failure,
    postpone,
)
from commerce.tenancy.scope import account_scope

logger = logging.getLogger(__name__)

LOOP = "checkouts"
BATCH = 500


def sweep_overdue_checkouts(*, now: datetime) -> int:
    """End one batch of overdue checkouts, with separate transactions per account; return the number of checkouts found.

    A checkout that fails is postponed; the others are still ended.
    """
    overdue = find_due_rows("SELECT account_id, checkout_id FROM overdue_checkouts(%s)", batch=BATCH)
    for account_id, checkout_ids in overdue.items():
        with continue_after_failure(LOOP, account=account_id):
            _sweep(account_id, checkout_ids, now=now)
    return sum(len(checkout_ids) for checkout_ids in overdue.values())


def _sweep(account_id: int, checkout_ids: Sequence[int], *, now: datetime) -> None:
    def end(ids: Sequence[int]) -> list[Checkout]:
        paid = sweep_account(checkout_ids=ids, now=now)
        # A paid one may still fail to be completed, and then has to wait longer than the last time.
        forget_postponed(LOOP, set(ids) - {checkout.pk for checkout in paid})
        return paid

    paid = handle_rows(LOOP, account_id=account_id, row_ids=checkout_ids, work=end)
    for checkout in chain.from_iterable(paid):
        _complete(account_id, checkout, now=now)


def _complete(account_id: int, checkout: Checkout, *, now: datetime) -> None:
    """Complete a checkout whose customer didn't return after paying."""
    try:
        with account_scope(account_id):
            complete_checkout(token=checkout.token, now=now)
            forget_postponed(LOOP, [checkout.pk])
    except (CheckoutAlreadyCompleted, CheckoutExpired, NotFound) as refusal:
        # The customer or another sweeper was faster.
        logger.info("Paid checkout not completed by the sweeper: %s", refusal.code)
    except Exception as error:
        if is_server_failure(error):
            raise
        postpone(LOOP, account_id=account_id, row_id=checkout.pk, error=error)
