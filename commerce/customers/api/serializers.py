from rest_framework import serializers

from commerce.mail import email_folders
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField

MAX_TAGS = 100


class CustomerInput(Input):
    email = fields.EmailField()
    first_name = fields.TextField(required=False, allow_blank=True, max_length=100)
    last_name = fields.TextField(required=False, allow_blank=True, max_length=100)
    phone = fields.TextField(required=False, allow_blank=True, max_length=40)
    locale = fields.LocaleField(required=False, allow_null=True)
    country_code = fields.CountryField(required=False, allow_null=True)
    tags = fields.ListField(child=fields.TextField(max_length=64), required=False, max_length=MAX_TAGS)

    def validate_tags(self, tags: list[str]) -> list[str]:
        return list(dict.fromkeys(tags))


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
    total_spent_cents = fields.CentsField()
    redacted_at = TimestampField(allow_null=True)
    created_at = TimestampField()
    updated_at = TimestampField()


class PreferencesInput(Input):
    notification_preferences = serializers.DictField(child=fields.BooleanField())

    def validate_notification_preferences(self, preferences: dict[str, bool]) -> dict[str, bool]:
        unknown = preferences.keys() - email_folders().keys()
        if unknown:
            raise serializers.ValidationError(
                {
                    key: serializers.ErrorDetail("There is no such template.", "unknown_template")
                    for key in unknown
                }
            )
        return preferences


class SegmentOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField()
    name = serializers.CharField()
    filter = serializers.DictField()
    created_at = TimestampField()
    updated_at = TimestampField()
