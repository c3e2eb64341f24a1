from typing import Any

from rest_framework import serializers

from commerce.events.types import EventType
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField
from commerce.webhooks.models import WebhookDelivery, WebhookEndpoint
from commerce.webhooks.rules import MAX_DESCRIPTION, MAX_GRACE_S, STATUSES, endpoint_url

_Status = WebhookEndpoint.Status


class WebhookEndpointInput(Input):
    url = fields.HttpUrlField(
        help_text="It must resolve to public addresses; the port is 80, 443, or 1024 and above."
    )
    description = fields.OptionalTextField(max_length=MAX_DESCRIPTION)
    topics = fields.ListField(
        child=serializers.ChoiceField(EventType.choices),
        required=False,
        max_length=len(EventType),
        help_text="Event types to send; empty means all.",
    )

    def validate_url(self, url: str) -> str:
        return fields.apply_rule(endpoint_url, url)


class WebhookEndpointChanges(WebhookEndpointInput):
    """An endpoint that is paused, or disabled after failures, is sent nothing until it is active again."""

    status = serializers.ChoiceField(STATUSES, required=False)


class WebhookSecretRotation(Input):
    grace_seconds = fields.IntegerField(required=False, default=0, max_value=MAX_GRACE_S)


class DeliveryFilters(Input):
    status = serializers.ChoiceField(WebhookDelivery.Status.choices, required=False)


class WebhookEndpointOutput(Output):
    id = fields.IdField()
    url = serializers.CharField()
    description = serializers.CharField()
    topics = serializers.ListField(child=serializers.CharField())
    api_version = serializers.CharField(
        help_text="The API version of its messages: that of the request that created it."
    )
    status = serializers.ChoiceField(_Status.choices)
    disabled_reason = serializers.CharField(help_text="`gone` (it answered 410), `failing`, or empty.")
    paused_at = TimestampField(allow_null=True)
    consecutive_failures = serializers.IntegerField()
    failing_since = TimestampField(allow_null=True)
    previous_secret_until = TimestampField(
        allow_null=True, help_text="Until then, messages are also signed with the previous secret."
    )
    created_at = TimestampField()
    updated_at = TimestampField()


class WebhookEndpointWithSecretOutput(WebhookEndpointOutput):
    secret = serializers.CharField(allow_null=True, help_text="Shown in this answer only.")


class WebhookPingOutput(Output):
    message_id = serializers.CharField(help_text="Its id in the log of deliveries.")


class WebhookDeliveryOutput(Output):
    id = fields.IdField()
    webhook_endpoint_id: Any = fields.IdField(source="endpoint_id")
    message_id = serializers.CharField(help_text="The header `webhook-id`, which is the event's id.")
    event_type = serializers.CharField()
    attempt = serializers.IntegerField(help_text="Counts from 1.")
    status = serializers.ChoiceField(WebhookDelivery.Status.choices)
    response_status = serializers.IntegerField(allow_null=True)
    response_excerpt = serializers.CharField(help_text="The first KiB of the answer.")
    error = serializers.CharField(help_text="Why there was no answer; empty if there was one.")
    duration_ms = serializers.IntegerField()
    created_at = TimestampField()
