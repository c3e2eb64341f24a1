from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class EventFilters(Input):
    type = fields.TextField(
        required=False, max_length=64, help_text="Only events of this type, such as `checkout.completed`."
    )


class EventOutput(Output):
    id = fields.IdField()
    type = serializers.CharField(help_text="What happened, such as `checkout.completed`.")
    api_version = serializers.CharField(
        help_text="What `data` was made for: the version of the request, or an older one if the event is older."
    )
    account_id = fields.IdField()
    occurred_at = TimestampField(help_text="When it happened.")
    data = fields.ObjectField(
        help_text="What it is about, by type. Ids and amounts are text; amounts are in cents."
    )  # type: ignore[assignment]  # DRF takes fields out of the class
