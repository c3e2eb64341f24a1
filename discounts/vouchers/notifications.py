"""The email that brings a gift card to its recipient."""

from datetime import datetime

from commerce.customers.queries import customers
from commerce.errors import FieldError, ValidationFailed
from commerce.outbox.operations import enqueue
from commerce.rest.shapes import timestamp
from discounts.models import Voucher

TEMPLATE_KEY = "voucher.issued"


def enqueue_voucher_email(voucher: Voucher, *, now: datetime) -> None:
    """Queue the email with the code, each time anew. Raises `ValidationFailed` for a card without a recipient.

    A recipient who is known as a customer gets it in their language, and only if they want such messages.
    """
    if not voucher.recipient_email:
        raise _nobody()
    customer_id = customers(email=voucher.recipient_email).values_list("pk", flat=True).first()
    payload = {
        "template_key": TEMPLATE_KEY,
        "to_email": voucher.recipient_email,
        "customer_id": customer_id,
        "ctx": {"voucher": _variables(voucher)},
        "reference_type": "voucher",
        "reference_id": voucher.pk,
    }
    key = f"{TEMPLATE_KEY}/{voucher.pk}/{timestamp(now)}"
    enqueue(task_name="send_email", payload=payload, idempotency_key=key, now=now)


def _nobody() -> ValidationFailed:
    detail = "The gift card has no recipient to send it to."
    return ValidationFailed(detail, errors=(FieldError("recipient_email", "required", detail),))


def _variables(voucher: Voucher) -> dict[str, str | None]:
    return {
        "code": voucher.code,
        "currency": voucher.currency,
        "balance_cents": str(voucher.balance_cents),
        "expires_at": timestamp(voucher.expires_at),
        "recipient_email": voucher.recipient_email,
    }
