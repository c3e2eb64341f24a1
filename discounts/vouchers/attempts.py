"""Tries to pay with a gift card, kept for support staff: the refused ones outlive the request that they fail."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from commerce.errors import Refusal
from discounts.models import VoucherPaymentAttempt

Status = VoucherPaymentAttempt.Status


@contextmanager
def refusals_kept(
    *,
    voucher_id: int,
    amount_cents: int,
    actor: str,
    order_id: int | None = None,
    checkout_id: int | None = None,
) -> Iterator[None]:
    """Have a refusal that is raised inside written down as a try to take so many cents, after the rollback."""
    try:
        yield
    except Refusal as refusal:
        refusal.aftermath = partial(
            VoucherPaymentAttempt.objects.create,
            voucher_id=voucher_id,
            status=Status.REFUSED,
            failure_code=refusal.code,
            amount_cents=amount_cents,
            order_id=order_id,
            checkout_id=checkout_id,
            actor=actor,
        )
        raise
