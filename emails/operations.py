"""Writes of deliveries: recorded when sent, changed by the provider's events, erased on redaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from django.db import connection

from commerce.customers.queries import find_redacted
from commerce.events.operations import publish, publish_many
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import drop_messages, store_messages
from commerce.tenancy.instances import insert_apart
from commerce.tenancy.locks import lock
from commerce.tenancy.scope import current_account_id
from emails.errors import AccountNotResolved
from emails.messages import Message
from emails.models import EmailDelivery
from emails.renderer.limits import MAX_LINE_CHARACTERS
from emails.requests import EmailRequest
from emails.tracking import EFFECTS, correct_time, find_changes


class _Personal(TypedDict):
    """The fields of a delivery that hold personal data."""

    to_email: str
    subject: str
    html: str
    text: str
    ctx: dict[str, object]


_ERASED: _Personal = {"to_email": "", "subject": "", "html": "", "text": "", "ctx": {}}

# The unique key decides whether an event is new, also between two requests at once.
_INSERT_EVENT = """
    INSERT INTO email_delivery_events (account_id, delivery_id, event_key, type, occurred_at, received_at)
    VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (account_id, event_key) DO NOTHING
    RETURNING id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A message to be sent: the dispatch of the request, and what was made of it."""

    dispatch: OutboxDispatch
    request: EmailRequest
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that a provider has accepted, with the provider's id for it."""

    written: Written
    provider: str
    provider_message_id: str
    at: datetime


def keep_messages(messages: Sequence[Written]) -> tuple[list[Written], list[Written]]:
    """Store messages before they are handed off, so that every attempt sends the same.

    Returns those that may be handed off, and those whose customer is redacted. A message whose lease is lost is in neither.
    Storing locks the dispatch, as a redaction does: no personal data is written after it was erased.
    """
    # The order matters: a redaction that comes after this lock erases the message, one that came before is seen below.
    held = set(store_messages({written.dispatch: written.message.as_dict() for written in messages}))
    kept = [written for written in messages if written.dispatch in held]
    redacted = _find_redacted(kept)
    unwanted = [written for written in kept if written.request.customer_id in redacted]
    # In the same transaction, as nothing would erase them if this process were lost now.
    drop_messages(written.dispatch for written in unwanted)
    return [written for written in kept if written.request.customer_id not in redacted], unwanted


def record_deliveries(messages: Sequence[Sent], *, now: datetime) -> list[EmailDelivery]:
    """Record messages that a provider has accepted, and publish `email.sent` for each.

    The caller has locked the dispatches in this transaction. A redaction locks them too, so it either finds the delivery
    or is noticed here.
    """
    redacted = _find_redacted(sent.written for sent in messages)
    deliveries = [
        _build_delivery(sent, is_erased=sent.written.request.customer_id in redacted) for sent in messages
    ]
    insert_apart(deliveries)
    occurrences = [("email.sent", _build_event_data(delivery)) for delivery in deliveries]
    publish_many(occurrences=occurrences, now=now)
    return deliveries


def _build_delivery(sent: Sent, *, is_erased: bool) -> EmailDelivery:
    request, message, dispatch = sent.written.request, sent.written.message, sent.written.dispatch
    personal: _Personal = {
        "to_email": message.to_email,
        # The message has gone out, so a longer subject of an older release must not fail here.
        "subject": message.subject[:MAX_LINE_CHARACTERS],
        "html": message.html,
        "text": message.text,
        "ctx": request.ctx,
    }
    return EmailDelivery(
        template_key=request.template_key,
        customer_id=request.customer_id,
        locale=message.locale,
        provider=sent.provider,
        provider_message_id=sent.provider_message_id,
        key_space=dispatch.key_space,
        idempotency_key=dispatch.idempotency_key,
        reference_type=request.reference_type,
        reference_id=request.reference_id,
        queued_at=dispatch.created_at,
        sent_at=sent.at,
        # The message went out all the same, so the delivery is recorded, without what was to be erased.
        **(_ERASED if is_erased else personal),
    )


def record_event(
    *, message_id: str, event_type: str, event_key: str, occurred_at: datetime, now: datetime
) -> bool:
    """Apply a provider's event to its delivery; False for a repeated event. Raises `AccountNotResolved`.

    The status only moves forwards. The account's own event is published for the first one of each type.
    """
    # Locked, as events of one message may arrive at once, and each must see what the others have set.
    sent = EmailDelivery.objects.defer("html", "text", "ctx").filter(provider_message_id=message_id)
    delivery = lock(sent).order_by("-pk").first()
    if delivery is None:
        raise AccountNotResolved
    occurred_at = correct_time(occurred_at, now=now)
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_EVENT, [current_account_id(), delivery.pk, event_key, event_type, occurred_at, now]
        )
        is_new = cursor.fetchone() is not None
    # Providers repeat an event until it is answered with success.
    if not is_new:
        return False
    time_field = EFFECTS[event_type].time_field
    happened_at = getattr(delivery, time_field)
    changes = find_changes(
        event_type, occurred_at=occurred_at, status=delivery.status, happened_at=happened_at
    )
    if changes:
        EmailDelivery.objects.filter(pk=delivery.pk).update(**changes)
    # A message may be opened often, but merchants are told once.
    if happened_at is None:
        data = _build_event_data(delivery) | {time_field: occurred_at}
        publish(type=event_type, data=data, now=now)
    return True


def erase_deliveries(*, customer_id: int) -> None:
    """Erase personal data from a customer's sent emails."""
    EmailDelivery.objects.filter(customer_id=customer_id).update(**_ERASED)


def _find_redacted(messages: Iterable[Written]) -> set[int]:
    return find_redacted(
        written.request.customer_id for written in messages if written.request.customer_id is not None
    )


def _build_event_data(delivery: EmailDelivery) -> dict[str, object]:
    # Without the address: events are append-only, so a redaction couldn't erase it.
    return {
        "email_delivery_id": delivery.pk,
        "template_key": delivery.template_key,
        "customer_id": delivery.customer_id,
        "provider_message_id": delivery.provider_message_id,
        "reference_type": delivery.reference_type,
        "reference_id": delivery.reference_id,
    }
