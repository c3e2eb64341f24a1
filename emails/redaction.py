"""Erases a redacted customer's personal data from emails."""

from datetime import datetime

from commerce.customers.redaction import register_eraser
from commerce.mail import SEND_EMAIL
from commerce.outbox.operations import erase_dispatches
from emails.operations import erase_deliveries
from emails.requests import PERSONAL_KEYS


@register_eraser
def erase_messages(customer_id: int, now: datetime) -> None:
    # Dispatches first, as a worker locks them first. A worker that holds one has then either recorded its delivery,
    # which is erased below, or will notice the redaction (`keep_messages`, `record_deliveries`).
    erase_dispatches(
        task_name=SEND_EMAIL, about={"customer_id": customer_id}, personal_keys=PERSONAL_KEYS, now=now
    )
    erase_deliveries(customer_id=customer_id)
