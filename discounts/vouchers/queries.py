from datetime import datetime

from django.db.models import QuerySet

from commerce.caseless import matches_caseless
from commerce.queries import get_or_not_found
from discounts.models import Voucher, VoucherRedemption

from .codes import parse_voucher_code
from .statuses import matches_status


def vouchers(
    *,
    status: str | None = None,
    code: str | None = None,
    recipient_email: str | None = None,
    currency: str | None = None,
    now: datetime,
) -> QuerySet[Voucher]:
    """Filter the account's gift cards. `status` is the effective one at `now`; code and email ignore case."""
    found = Voucher.objects.all()
    if status is not None:
        found = found.filter(matches_status(status, now))
    if code is not None:
        # A text that can't be a code becomes null, which no gift card has.
        found = found.filter(code=parse_voucher_code(code))
    if recipient_email is not None:
        found = found.filter(matches_caseless("recipient_email", recipient_email))
    if currency is not None:
        found = found.filter(currency=currency)
    return found


def get_voucher(voucher_id: int) -> Voucher:
    """Return a gift card of the account in scope; raises `NotFound`."""
    return get_or_not_found(Voucher.objects, pk=voucher_id)


def is_voucher_code(code: str) -> bool:
    """Whether the code, in any spelling, belongs to one of the account's gift cards."""
    canonical = parse_voucher_code(code)
    return canonical is not None and Voucher.objects.filter(code=canonical).exists()


def redemptions(
    *, voucher_id: int | None = None, order_id: int | None = None, kind: str | None = None
) -> QuerySet[VoucherRedemption]:
    """Return ledger entries, optionally of one gift card, one order or one kind."""
    wanted = {"voucher_id": voucher_id, "order_id": order_id, "kind": kind}
    return VoucherRedemption.objects.filter(
        **{name: value for name, value in wanted.items() if value is not None}
    )
