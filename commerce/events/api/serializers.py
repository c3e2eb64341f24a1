from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class EventFilters(Input):
    type = fields.TextField(required=False, max_length=64)


class EventOutput(Output):
    id = fields.IdField()
    type = serializers.CharField()
    api_version = serializers.CharField(
        help_text="What `data` was made for: the version of the request, or an older one if the event is older."
    )
    account_id = fields.IdField()
    occurred_at = TimestampField()
    data = fields.ObjectField()  # type: ignore[assignment]  # DRF takes fields out of the class
