from rest_framework import serializers

from commerce.customers.rules import MAX_NAME, MAX_PHONE, MAX_TAG, MAX_TAGS
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class CustomerInput(Input):
    described_by = "CustomerOutput"

    email = fields.EmailField()
    first_name = fields.TextField(required=False, allow_blank=True, max_length=MAX_NAME)
    last_name = fields.TextField(required=False, allow_blank=True, max_length=MAX_NAME)
    phone = fields.TextField(required=False, allow_blank=True, max_length=MAX_PHONE)
    locale = fields.LocaleField(required=False, allow_null=True)
    country_code = fields.CountryField(required=False, allow_null=True)
    tags = fields.ListField(child=fields.TextField(max_length=MAX_TAG), required=False, max_length=MAX_TAGS)


class CustomerFilter(Input):
    email = fields.EmailField(
        required=False, help_text="Only the customer with this address; case is ignored."
    )


class CustomerOutput(Output):
    id = fields.IdField()
    email = serializers.CharField(
        allow_null=True, help_text="Unique in the shop, whatever its case; null once redacted."
    )
    first_name = serializers.CharField(help_text="Given name.")
    last_name = serializers.CharField(help_text="Family name.")
    phone = serializers.CharField(help_text="Phone number.")
    locale = serializers.CharField(allow_null=True, help_text="The language of emails; null for the shop's.")
    country_code = serializers.CharField(allow_null=True, help_text="Where the customer lives.")
    tags = serializers.ListField(
        child=serializers.CharField(), help_text="Free labels. Discounts can be limited to them."
    )
    is_guest = serializers.BooleanField(
        help_text="Whether the customer was made by a checkout, rather than by the shop."
    )
    orders_count = serializers.IntegerField(help_text="Number of orders, without cancelled ones.")
    total_spent_cents = fields.CentsField(
        help_text="The orders in the account's default currency, without cancelled ones."
    )
    redacted_at = TimestampField(
        allow_null=True, help_text="When the personal data was erased; null while it isn't."
    )
    created_at = TimestampField()
    updated_at = TimestampField()


class PreferencesInput(Input):
    notification_preferences = serializers.DictField(
        child=fields.BooleanField(),
        help_text="Emails by their template's key, each with whether the customer wants it.",
    )


class SegmentOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField(help_text="Unique among the shop's segments.")
    name = serializers.CharField()
    filter = serializers.DictField(
        help_text='`{"all": [{field, op, value}]}`: the conditions, all of which must hold.'
    )
    created_at = TimestampField()
    updated_at = TimestampField()
