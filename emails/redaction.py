"""What emails know of a customer goes with the customer."""

from datetime import datetime

from commerce.customers.redaction import erases
from commerce.mail import SEND_EMAIL
from commerce.outbox.operations import erase_dispatches
from emails.operations import erase_deliveries
from emails.requests import PERSONAL_KEYS


@erases
def erase_messages(customer_id: int, now: datetime) -> None:
    """First the dispatches: a worker that holds one records its delivery before they can be had, or sees why not."""
    erase_dispatches(
        task_name=SEND_EMAIL, about={"customer_id": customer_id}, personal_keys=PERSONAL_KEYS, now=now
    )
    erase_deliveries(customer_id=customer_id)
