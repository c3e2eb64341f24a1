from datetime import datetime
from typing import Any

from commerce.events.operations import publish
from commerce.rest.shapes import text_id
from emails.messages import Message
from emails.models import EmailDelivery
from emails.requests import EmailRequest


def record_delivery(
    *,
    request: EmailRequest,
    message: Message,
    idempotency_key: str,
    provider: str,
    provider_message_id: str,
    queued_at: datetime,
    now: datetime,
) -> EmailDelivery:
    """A message that a provider has accepted, and the event `email.sent`."""
    delivery = EmailDelivery.objects.create(
        template_key=request.template_key,
        customer_id=request.customer_id,
        to_email=message.to_email,
        locale=message.locale,
        subject=message.subject,
        html=message.html,
        text=message.text,
        ctx=request.ctx,
        provider=provider,
        provider_message_id=provider_message_id,
        idempotency_key=idempotency_key,
        reference_type=request.reference_type,
        reference_id=request.reference_id,
        queued_at=queued_at,
        sent_at=now,
    )
    publish(type="email.sent", data=_event_data(delivery), now=now)
    return delivery


def _event_data(delivery: EmailDelivery) -> dict[str, Any]:
    return {
        "email_delivery_id": text_id(delivery.pk),
        "template_key": delivery.template_key,
        "customer_id": text_id(delivery.customer_id),
        "to_email": delivery.to_email,
        "provider_message_id": delivery.provider_message_id,
        "reference_type": delivery.reference_type,
        "reference_id": text_id(delivery.reference_id),
    }
