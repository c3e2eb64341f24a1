from rest_framework import serializers

from commerce.customers.rules import MAX_NAME, MAX_PHONE, MAX_TAG, MAX_TAGS
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class CustomerInput(Input):
    email = fields.EmailField()
    first_name = fields.TextField(required=False, allow_blank=True, max_length=MAX_NAME)
    last_name = fields.TextField(required=False, allow_blank=True, max_length=MAX_NAME)
    phone = fields.TextField(required=False, allow_blank=True, max_length=MAX_PHONE)
    locale = fields.LocaleField(required=False, allow_null=True)
    country_code = fields.CountryField(required=False, allow_null=True)
    tags = fields.ListField(child=fields.TextField(max_length=MAX_TAG), required=False, max_length=MAX_TAGS)


class CustomerFilter(Input):
    email = fields.EmailField(required=False)


class CustomerOutput(Output):
    id = fields.IdField()
    email = serializers.CharField(allow_null=True)
    first_name = serializers.CharField()
    last_name = serializers.CharField()
    phone = serializers.CharField()
    locale = serializers.CharField(allow_null=True)
    country_code = serializers.CharField(allow_null=True)
    tags = serializers.ListField(child=serializers.CharField())
    is_guest = serializers.BooleanField()
    orders_count = serializers.IntegerField()
    total_spent_cents = fields.CentsField(
        help_text="The orders in the account's default currency, without cancelled ones."
    )
    redacted_at = TimestampField(allow_null=True)
    created_at = TimestampField()
    updated_at = TimestampField()


class PreferencesInput(Input):
    notification_preferences = serializers.DictField(child=fields.BooleanField())


class SegmentOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField()
    name = serializers.CharField()
    filter = serializers.DictField()
    created_at = TimestampField()
    updated_at = TimestampField()
