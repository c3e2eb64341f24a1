"""Reads of deliveries."""

from django.db import connection
from django.db.models import QuerySet

from commerce.outbox.models import OutboxDispatch
from commerce.queries import get_or_not_found
from emails.models import EmailDelivery

_BODY_FIELDS = ("html", "text", "ctx")


def deliveries(**filters: object) -> QuerySet[EmailDelivery]:
    """The deliveries of the account in scope, without their bodies."""
    return EmailDelivery.objects.filter(**filters).defer(*_BODY_FIELDS)


def delivery_of(dispatch: OutboxDispatch) -> QuerySet[EmailDelivery]:
    """The delivery of a dispatch, if it was sent."""
    return deliveries(key_space=dispatch.key_space, idempotency_key=dispatch.idempotency_key)


def get_delivery(delivery_id: int, *, include_body: bool = False) -> EmailDelivery:
    """A delivery of the account in scope; raises `NotFound`."""
    found = EmailDelivery.objects.all() if include_body else deliveries()
    return get_or_not_found(found, pk=delivery_id)


def accounts_of_message(provider_message_id: str) -> list[int]:
    """The accounts that sent this message: at most one, if the provider's ids are unique. Called outside of any scope."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT resolve_provider_message(%s)", [provider_message_id])
        return [row[0] for row in cursor.fetchall()]
