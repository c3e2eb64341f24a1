from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField
from emails.models import EmailDelivery


class DeliveryFilters(Input):
    customer_id = fields.IdField(required=False)
    status = serializers.ChoiceField(EmailDelivery.Status.choices, required=False)
    template_key = fields.TextField(required=False, max_length=100)
    reference_type = fields.TextField(required=False, max_length=64)
    reference_id = fields.IdField(required=False)


class BodyOption(Input):
    include_body = fields.QueryBooleanField(required=False, default=False)


class DeliveryOutput(Output):
    id = fields.IdField()
    template_key = serializers.CharField()
    customer_id = fields.IdField(allow_null=True)
    to_email = serializers.CharField()
    locale = serializers.CharField()
    subject = serializers.CharField()
    provider = serializers.CharField()
    provider_message_id = serializers.CharField()
    reference_type = serializers.CharField(allow_null=True)
    reference_id = fields.IdField(allow_null=True)
    status = serializers.ChoiceField(EmailDelivery.Status.choices)
    queued_at = TimestampField()
    sent_at = TimestampField()
    delivered_at = TimestampField(allow_null=True)
    opened_at = TimestampField(allow_null=True)
    first_clicked_at = TimestampField(allow_null=True)
    bounced_at = TimestampField(allow_null=True)


class DeliveryBodyOutput(DeliveryOutput):
    html = serializers.CharField(required=False)
    text = serializers.CharField(required=False)
    ctx = fields.ObjectField(required=False, help_text="The variables that the template was rendered with.")
