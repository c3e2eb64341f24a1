"""Records attempts to pay with a gift card, for support staff. Refused ones survive the request's rollback."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from commerce.errors import Refusal
from discounts.models import VoucherPaymentAttempt

Status = VoucherPaymentAttempt.Status


@contextmanager
def record_refusal(
    *,
    voucher_id: int,
    amount_cents: int,
    actor: str,
    order_id: int | None = None,
    checkout_id: int | None = None,
) -> Iterator[None]:
    """If a refusal is raised inside, record it as a failed attempt to pay this amount, after the rollback."""
    try:
        yield
    except Refusal as refusal:
        # Run by the middleware after the rollback, in another transaction: this one can't keep anything.
        refusal.aftermath = partial(
            _record,
            voucher_id=voucher_id,
            status=Status.REFUSED,
            failure_code=refusal.code,
            amount_cents=amount_cents,
            order_id=order_id,
            checkout_id=checkout_id,
            actor=actor,
        )
        raise


def _record(**fields: object) -> None:
    # Called by the middleware, but the statement comes from this app, which alone may write its tables.
    VoucherPaymentAttempt.objects.create(**fields)
