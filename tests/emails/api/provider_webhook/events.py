"""Events of the email provider, and what is stored of them."""

from datetime import UTC, datetime

import orjson

from commerce.events.models import Event
from emails.models import EmailDelivery, EmailDeliveryEvent
from tests.clients import ApiClient

MESSAGE_ID = "4ef9a417-02e9-4d39-ad75-9611e0fcc33c"
CREATED_AT = "2026-11-20T09:30:00Z"
OCCURRED_AT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def event(event_type="email.delivered", message_id=MESSAGE_ID, created_at=CREATED_AT, **others):
    return {"type": event_type, "data": {"email_id": message_id, "created_at": created_at}, **others}


def post(body, *, query="", **headers):
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return ApiClient().post(f"/webhooks/provider{query}", content, **headers)


def reread(shop, delivery):
    with shop.scope():
        return EmailDelivery.objects.get(pk=delivery.pk)


def list_events(shop):
    with shop.scope():
        return list(EmailDeliveryEvent.objects.order_by("pk"))


def list_published(shop):
    with shop.scope():
        return [(event.type, event.data) for event in Event.objects.order_by("pk")]


def is_untouched(shop, delivery):
    unchanged = reread(shop, delivery)
    return (unchanged.status, unchanged.delivered_at, list_events(shop), list_published(shop)) == (
        "sent",
        None,
        [],
        [],
    )
