from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField
from emails.models import EmailDelivery
from emails.own_templates.rules import MAX_CTX_BYTES, MAX_CTX_NODES

# Of what a provider says about a message. It isn't stored.
MAX_EVENT_BYTES = 256 * 1024
MAX_EVENT_NODES = 20_000


class DeliveryFilters(Input):
    described_by = "DeliveryOutput"

    customer_id = fields.IdField(required=False)
    status = serializers.ChoiceField(EmailDelivery.Status.choices, required=False)
    template_key = fields.TextField(required=False, max_length=100)
    reference_type = fields.TextField(required=False, max_length=64)
    reference_id = fields.IdField(required=False)


class SendInput(Input):
    described_by = "DeliveryOutput"

    template_key = fields.TextField(max_length=100)
    customer_id = fields.IdField(help_text="The customer to send it to.")
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
    idempotency_key = fields.TextField(
        max_length=255, help_text="Chosen by the caller: the same key sends one email only."
    )
    skip_notification_check = fields.BooleanField(
        required=False, default=False, help_text="Send even if the customer has switched this email off."
    )


class BodyOption(Input):
    include_body = fields.QueryBooleanField(
        required=False,
        default=False,
        help_text="Adds `html`, `text` and `ctx`. For `voucher.issued`, which contains a gift card's code, this needs the scope `read_vouchers`.",
    )


class DeliveryOutput(Output):
    id = fields.IdField()
    template_key = serializers.CharField(help_text="The email, such as `order.confirmation`.")
    customer_id = fields.IdField(
        allow_null=True, help_text="The customer; null if it was sent to somebody else."
    )
    to_email = serializers.CharField(help_text="The recipient's address.")
    locale = serializers.CharField(help_text="The language that it was written in.")
    subject = serializers.CharField(
        help_text="Empty once the customer is redacted, and if reading `voucher.issued` without `read_vouchers`."
    )
    provider = serializers.CharField(help_text="The email provider that took it.")
    provider_message_id = serializers.CharField(help_text="The provider's id of the message.")
    reference_type = serializers.CharField(
        allow_null=True, help_text="What kind of thing it is about, such as `order`."
    )
    reference_id = fields.IdField(allow_null=True, help_text="The id of that thing.")
    status = serializers.ChoiceField(
        EmailDelivery.Status.choices,
        help_text="The furthest state that is known: `sent`, `delivered`, `opened`, `clicked` or `bounced`.",
    )
    queued_at = TimestampField(help_text="When it was asked for.")
    sent_at = TimestampField(help_text="When the provider took it.")
    delivered_at = TimestampField(allow_null=True, help_text="When it arrived.")
    opened_at = TimestampField(allow_null=True, help_text="When it was first opened.")
    first_clicked_at = TimestampField(allow_null=True, help_text="When a link was first followed.")
    bounced_at = TimestampField(allow_null=True, help_text="When it came back.")


class DeliveryBodyOutput(DeliveryOutput):
    html = serializers.CharField(required=False, help_text="What was sent, as HTML.")
    text = serializers.CharField(required=False, help_text="What was sent, as plain text.")
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
