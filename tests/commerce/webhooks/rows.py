"""Factories of endpoints, events and deliveries."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from commerce.events.models import Event
from commerce.events.operations import publish
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.webhooks.messages import make_secret
from commerce.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.shops import Shop


def make_endpoint(shop: Shop, url: str = "https://93.184.216.34/hook", **fields: Any) -> WebhookEndpoint:
    with shop.scope():
        return WebhookEndpoint.objects.create(url=url, secret=make_secret(), **fields)


def make_delivery(shop: Shop, endpoint: WebhookEndpoint, **fields: Any) -> WebhookDelivery:
    """Create an attempt that has just failed."""
    fields = {
        "message_id": "1",
        "event_type": "order.paid",
        "attempt": 1,
        "status": "failed",
        "response_status": 503,
        "duration_ms": 12,
        "created_at": timezone.now(),
    } | fields
    with shop.scope():
        return WebhookDelivery.objects.create(endpoint=endpoint, **fields)


def make_event(shop: Shop, name: str = "order.paid", **data: Any) -> Event:
    with shop.scope():
        publish(type=name, data=data, now=timezone.now())
        with connection.cursor() as cursor:
            # Others may publish at the same time.
            cursor.execute("SELECT currval(pg_get_serial_sequence('events', 'id'))")
            return Event.objects.get(pk=cursor.fetchone()[0])


def reread(shop: Shop, endpoint: WebhookEndpoint) -> WebhookEndpoint:
    with shop.scope():
        return WebhookEndpoint.objects.get(pk=endpoint.pk)


def log_of(shop: Shop) -> list[WebhookDelivery]:
    with shop.scope():
        return list(WebhookDelivery.objects.order_by("pk"))


def dispatches_of(shop: Shop) -> list[OutboxDispatch]:
    with shop.scope():
        return list(OutboxDispatch.objects.order_by("pk"))


def make_due(shop: Shop) -> None:
    """Make waiting dispatches due, and let no endpoint rest."""
    a_while_ago = timezone.now() - timedelta(seconds=1)
    with shop.scope():
        OutboxDispatch.objects.filter(status="pending").update(due_at=a_while_ago)
        WebhookEndpoint.objects.update(rests_until=None)


def run_all(shop: Shop) -> None:
    """Run waiting dispatches until none is left."""
    while any(row.status == "pending" for row in dispatches_of(shop)):
        make_due(shop)
        run_due()
