from datetime import datetime
from typing import Any

from commerce.events.operations import publish

from .codes import new_voucher_code
from .models import Discount, Voucher, VoucherRedemption


def create_discount(*, fields: dict[str, Any]) -> Discount:
    """A new discount. Raises `DiscountCodeTaken` through the unique key."""
    return Discount.objects.create(**fields)


def update_discount(*, discount: Discount, changes: dict[str, Any]) -> Discount:
    """Change a discount. Raises `DiscountCodeTaken` through the unique key."""
    for name, value in changes.items():
        setattr(discount, name, value)
    discount.save(update_fields=[*changes, "updated_at"])
    return discount


def archive_discount(*, discount: Discount, now: datetime) -> Discount:
    """Take a discount out of use for good and free its code. Repeated, nothing changes."""
    Discount.objects.filter(pk=discount.pk).exclude(status=Discount.Status.ARCHIVED).update(
        status=Discount.Status.ARCHIVED, archived_at=now, updated_at=now
    )
    discount.refresh_from_db()
    return discount


def issue_voucher(
    *,
    initial_balance_cents: int,
    currency: str,
    recipient_email: str | None = None,
    expires_at: datetime | None = None,
    actor: str,
    now: datetime,
) -> Voucher:
    """A new gift card with the first entry of its ledger, in cents of its currency."""
    voucher = Voucher.objects.create(
        code=new_voucher_code(),
        currency=currency,
        initial_balance_cents=initial_balance_cents,
        balance_cents=initial_balance_cents,
        recipient_email=recipient_email,
        expires_at=expires_at,
    )
    VoucherRedemption.objects.create(
        voucher=voucher,
        kind=VoucherRedemption.Kind.ISSUE,
        amount_cents=initial_balance_cents,
        balance_after_cents=initial_balance_cents,
        actor=actor,
    )
    data = {
        "voucher_id": str(voucher.pk),
        "currency": currency,
        "initial_balance_cents": str(initial_balance_cents),
        "recipient_email": recipient_email,
    }
    publish(type="voucher.issued", data=data, now=now)
    return voucher
