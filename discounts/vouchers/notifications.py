"""The email that contains a gift card's code."""

from datetime import datetime
from typing import TypedDict

from commerce.customers.queries import customers
from commerce.errors import FieldError, ValidationFailed
from commerce.formats import timestamp
from commerce.mail import EmailKind, enqueue_email, require_scope_to_read
from discounts.models import Voucher


class _Voucher(TypedDict):
    code: str
    currency: str
    balance_cents: str
    expires_at: str | None
    recipient_email: str


class VoucherVariables(TypedDict):
    voucher: _Voucher


ISSUED = EmailKind[VoucherVariables]("voucher.issued", reference_type="voucher")
require_scope_to_read(ISSUED, "read_vouchers")


def enqueue_voucher_email(voucher: Voucher, *, now: datetime) -> None:
    """Enqueue an email with the code on every call. Raises `ValidationFailed` if the gift card has no recipient.

    A recipient who is a customer gets it in the customer's language, unless the customer has opted out of it.
    """
    if not voucher.recipient_email:
        detail = "The gift card has no recipient."
        raise ValidationFailed(detail, errors=(FieldError("recipient_email", "required", detail),))
    variables: VoucherVariables = {
        "voucher": {
            "code": voucher.code,
            "currency": voucher.currency,
            "balance_cents": str(voucher.balance_cents),
            "expires_at": timestamp(voucher.expires_at),
            "recipient_email": voucher.recipient_email,
        }
    }
    enqueue_email(
        ISSUED,
        to_email=voucher.recipient_email,
        customer_id=customers(email=voucher.recipient_email).values_list("pk", flat=True).first(),
        variables=variables,
        reference_id=voucher.pk,
        # With the time, because staff may send the same gift card several times.
        idempotency_key=f"{ISSUED.key}/{voucher.pk}/{timestamp(now)}",
        now=now,
    )
