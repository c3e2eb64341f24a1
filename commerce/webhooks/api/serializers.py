from typing import Any

from rest_framework import serializers

from commerce.events.types import EventType
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField
from commerce.webhooks.models import WebhookDelivery, WebhookEndpoint
from commerce.webhooks.rules import MAX_DESCRIPTION, MAX_GRACE_S, STATUSES, endpoint_url

_Status = WebhookEndpoint.Status


class WebhookEndpointInput(Input):
    described_by = "WebhookEndpointOutput"

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

    status = serializers.ChoiceField(STATUSES, required=False, help_text="`active` or `paused`.")


class WebhookSecretRotation(Input):
    grace_seconds = fields.IntegerField(
        required=False,
        default=0,
        max_value=MAX_GRACE_S,
        help_text="How long messages are also signed with the old secret.",
    )


class DeliveryFilters(Input):
    described_by = "WebhookDeliveryOutput"

    status = serializers.ChoiceField(WebhookDelivery.Status.choices, required=False)


class WebhookEndpointOutput(Output):
    id = fields.IdField()
    url = serializers.CharField(help_text="Where messages are sent.")
    description = serializers.CharField(help_text="What it is for.")
    topics = serializers.ListField(
        child=serializers.CharField(), help_text="The event types that are sent; empty means all."
    )
    api_version = serializers.CharField(
        help_text="The API version of its messages: that of the request that created it."
    )
    status = serializers.ChoiceField(
        _Status.choices, help_text="`active`, `paused` by the shop, or `disabled` after failures."
    )
    disabled_reason = serializers.CharField(help_text="`gone` (it answered 410), `failing`, or empty.")
    paused_at = TimestampField(allow_null=True, help_text="When it was paused; null while it isn't.")
    consecutive_failures = serializers.IntegerField(help_text="Failed messages since the last that arrived.")
    failing_since = TimestampField(
        allow_null=True, help_text="When the failures began; null while there are none."
    )
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
    event_type = serializers.CharField(help_text="The event's type, or `webhook_endpoint.ping`.")
    attempt = serializers.IntegerField(help_text="Counts from 1.")
    status = serializers.ChoiceField(
        WebhookDelivery.Status.choices,
        help_text="`succeeded` if the endpoint answered with 2xx, else `failed`.",
    )
    response_status = serializers.IntegerField(
        allow_null=True, help_text="The HTTP status of the answer; null without one."
    )
    response_excerpt = serializers.CharField(help_text="The first KiB of the answer.")
    error = serializers.CharField(help_text="Why there was no answer; empty if there was one.")
    duration_ms = serializers.IntegerField(help_text="How long the answer took.")
    created_at = TimestampField()
