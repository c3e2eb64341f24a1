from typing import Any

from django.conf import settings
from rest_framework import serializers

from commerce.events.models import Event
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField, text_id, timestamp


class EventFilters(Input):
    type = fields.TextField(required=False, max_length=64)


class EventOutput(Output):
    id = fields.IdField()
    type = serializers.CharField()
    api_version = serializers.CharField()
    account_id = fields.IdField()
    occurred_at = TimestampField()
    data = fields.ObjectField()


def envelope(event: Event) -> dict[str, Any]:
    """An event as it leaves, in the feed or in a webhook."""
    return {
        "id": text_id(event.pk),
        "type": event.type,
        "api_version": settings.API_VERSION,
        "account_id": text_id(event.account_id),
        "occurred_at": timestamp(event.occurred_at),
        "data": event.data,
    }
