from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField
from emails.models import EmailDelivery
from emails.own_templates.rules import MAX_CTX_BYTES, MAX_CTX_NODES

# Of what a provider says about a message. It isn't stored.
MAX_EVENT_BYTES = 256 * 1024
MAX_EVENT_NODES = 20_000


class DeliveryFilters(Input):
    customer_id = fields.IdField(required=False)
    status = serializers.ChoiceField(EmailDelivery.Status.choices, required=False)
    template_key = fields.TextField(required=False, max_length=100)
    reference_type = fields.TextField(required=False, max_length=64)
    reference_id = fields.IdField(required=False)


class SendInput(Input):
    template_key = fields.TextField(max_length=100)
    customer_id = fields.IdField()
    ctx = fields.ObjectField(
        required=False,
        max_bytes=MAX_CTX_BYTES,
        max_nodes=MAX_CTX_NODES,
        help_text="The template's variables, at most 128 KiB.",
    )
    locale = fields.LocaleField(
        bare_language=True, required=False, allow_null=True, help_text="Default: the customer's."
    )
    reference_type = fields.TextField(required=False, allow_null=True, max_length=64)
    reference_id = fields.IdField(required=False, allow_null=True)
    idempotency_key = fields.TextField(max_length=255)
    skip_notification_check = fields.BooleanField(
        required=False, default=False, help_text="Send even if the customer has switched this email off."
    )


class BodyOption(Input):
    include_body = fields.QueryBooleanField(required=False, default=False)


class DeliveryOutput(Output):
    id = fields.IdField()
    template_key = serializers.CharField()
    customer_id = fields.IdField(allow_null=True)
    to_email = serializers.CharField()
    locale = serializers.CharField()
    subject = serializers.CharField(
        help_text="Empty once the customer is redacted, and if reading `voucher.issued` without `read_vouchers`."
    )
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
    ctx = fields.ObjectField(required=False, help_text="The template's variables.")


class EnvelopeInput(Input):
    """The fields of every event, including types that are not handled."""

    type = fields.TextField(max_length=100)
    data = fields.ObjectField(max_bytes=MAX_EVENT_BYTES, max_nodes=MAX_EVENT_NODES)  # type: ignore[assignment]  # DRF takes fields out of the class


class EventDataInput(Input):
    email_id = fields.TextField(max_length=255)
    created_at = fields.DateTimeField()


class EventInput(Input):
    data = EventDataInput()  # type: ignore[assignment]  # DRF takes fields out of the class
    created_at = fields.DateTimeField(required=False, allow_null=True)
