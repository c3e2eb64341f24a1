from datetime import datetime
from typing import Any

from django.db import connection

from commerce.customers.errors import CustomerRedacted
from commerce.customers.queries import is_redacted
from commerce.events.operations import publish
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import store_message
from commerce.tenancy.scope import current_account_id
from emails.errors import AccountNotResolved
from emails.messages import Message
from emails.models import EmailDelivery
from emails.requests import EmailRequest
from emails.tracking import EFFECTS, changes_by, credible_time

# What of a delivery is about the person: the fields as they are once that is erased.
_ERASED: dict[str, Any] = {"to_email": "", "subject": "", "html": "", "text": "", "ctx": {}}

_KEEP_EVENT = """
    INSERT INTO email_delivery_events (account_id, delivery_id, event_key, type, occurred_at, received_at)
    VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (account_id, event_key) DO NOTHING
    RETURNING id
"""


def keep_message(*, dispatch: OutboxDispatch, request: EmailRequest, message: Message) -> None:
    """Store a message before anyone could have received it, so that every try sends the same.

    Storing locks the dispatch, as a redaction does: nothing of a person is written after that has been erased.
    Raises `LeaseLost`, `CustomerRedacted`.
    """
    store_message(dispatch=dispatch, message=message.as_dict())
    if _is_erased(request):
        raise CustomerRedacted


def record_delivery(
    *,
    request: EmailRequest,
    message: Message,
    dispatch: OutboxDispatch,
    provider: str,
    provider_message_id: str,
    now: datetime,
) -> EmailDelivery:
    """A message that a provider has accepted, and the event `email.sent`.

    The caller has locked the dispatch in this transaction. A redaction locks it as well, so that it either
    finds the delivery or is found here.
    """
    personal = {
        "to_email": message.to_email,
        "subject": message.subject,
        "html": message.html,
        "text": message.text,
        "ctx": request.ctx,
    }
    delivery = EmailDelivery.objects.create(
        template_key=request.template_key,
        customer_id=request.customer_id,
        locale=message.locale,
        provider=provider,
        provider_message_id=provider_message_id,
        key_space=dispatch.key_space,
        idempotency_key=dispatch.idempotency_key,
        reference_type=request.reference_type,
        reference_id=request.reference_id,
        queued_at=dispatch.created_at,
        sent_at=now,
        **(_ERASED if _is_erased(request) else personal),
    )
    publish(type="email.sent", data=_event_data(delivery), now=now)
    return delivery


def record_event(
    *, message_id: str, event_type: str, event_key: str, occurred_at: datetime, now: datetime
) -> bool:
    """What a provider tells of a message; False when it was told before. Raises `AccountNotResolved`.

    The delivery changes forwards only, and the account's own event is published when the first of its type
    comes.
    """
    delivery = _locked_delivery(message_id)
    occurred_at = credible_time(occurred_at, now=now)
    if not _is_new_event([delivery.pk, event_key, event_type, occurred_at, now]):
        return False
    time_field = EFFECTS[event_type].time_field
    happened_at = getattr(delivery, time_field)
    changes = changes_by(event_type, occurred_at=occurred_at, status=delivery.status, happened_at=happened_at)
    if changes:
        EmailDelivery.objects.filter(pk=delivery.pk).update(**changes)
    if happened_at is None:
        data = _event_data(delivery) | {time_field: occurred_at}
        publish(type=event_type, data=data, now=now)
    return True


def erase_deliveries(*, customer_id: int) -> None:
    """Take a customer's person out of every message that was sent."""
    EmailDelivery.objects.filter(customer_id=customer_id).update(**_ERASED)


def _is_erased(request: EmailRequest) -> bool:
    return request.customer_id is not None and is_redacted(request.customer_id)


def _locked_delivery(message_id: str) -> EmailDelivery:
    sent = EmailDelivery.objects.defer("html", "text", "ctx").filter(provider_message_id=message_id)
    delivery = sent.select_for_update(no_key=True).order_by("-pk").first()
    if delivery is None:
        raise AccountNotResolved
    return delivery


def _is_new_event(values: list[Any]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_KEEP_EVENT, [current_account_id(), *values])
        return cursor.fetchone() is not None


def _event_data(delivery: EmailDelivery) -> dict[str, Any]:
    """Names no address: events can't be taken back when the customer is redacted."""
    return {
        "email_delivery_id": delivery.pk,
        "template_key": delivery.template_key,
        "customer_id": delivery.customer_id,
        "provider_message_id": delivery.provider_message_id,
        "reference_type": delivery.reference_type,
        "reference_id": delivery.reference_id,
    }
