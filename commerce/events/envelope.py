from typing import Any

from django.conf import settings

from commerce.events.models import Event
from commerce.formats import text_id, timestamp


def envelope(event: Event) -> dict[str, Any]:
    """An event as it is shown in the feed and in webhooks."""
    return {
        "id": text_id(event.pk),
        "type": event.type,
        "api_version": settings.API_VERSION,
        "account_id": text_id(event.account_id),
        "occurred_at": timestamp(event.occurred_at),
        "data": event.data,
    }
