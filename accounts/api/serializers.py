from typing import Any

from rest_framework import serializers

from accounts.models import Account, ApiKey, Market
from commerce.rest import fields
from commerce.rest.principal import SCOPES
from commerce.rest.shapes import Input, Output, TimestampField

RESERVED_HANDLES = {"accounts", "shipping", "webhooks", "storefront", "openapi"}


class AccountHandleField(fields.HandleField):
    default_error_messages = {
        "reserved": "This handle is reserved.",
        "needs_letter": "A handle has at least one letter, so that it never looks like an id.",
    }

    def to_internal_value(self, data: Any) -> str:
        handle = super().to_internal_value(data)
        if handle in RESERVED_HANDLES:
            self.fail("reserved")
        if not any(character.isalpha() for character in handle):
            self.fail("needs_letter")
        return handle


class AccountDetails(Input):
    default_locale = fields.LocaleField(required=False)
    default_timezone = fields.TimeZoneField(required=False)
    country_code = fields.CountryField(required=False, allow_null=True)
    vat_number = fields.TextField(required=False, allow_null=True, max_length=32)
    email_from = fields.EmailField(required=False, allow_null=True)


class AccountInput(AccountDetails):
    handle = AccountHandleField(min_length=2)
    name = fields.TextField(max_length=200)
    default_currency = fields.CurrencyField()


class AccountUpdate(AccountDetails):
    """Any of an account's fields except the handle, with the version that the caller has read."""

    expected_version = fields.IntegerField(min_value=1, max_value=2_147_483_647)
    name = fields.TextField(max_length=200, required=False)
    default_currency = fields.CurrencyField(required=False)


class AccountFilter(Input):
    include_archived = fields.QueryBooleanField(required=False, default=False)


class AccountOutput(Output):
    id = fields.IdField()
    workspace_id = serializers.UUIDField()
    handle = serializers.CharField()
    name = serializers.CharField()
    default_currency = serializers.CharField()
    default_locale = serializers.CharField()
    default_timezone = serializers.CharField()
    country_code = serializers.CharField(allow_null=True)
    vat_number = serializers.CharField(allow_null=True)
    email_from = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(Account.Status.choices)
    version = serializers.IntegerField()
    archived_at = TimestampField(allow_null=True)
    created_at = TimestampField()
    updated_at = TimestampField()


class MarketInput(Input):
    handle = fields.HandleField()
    name = fields.TextField(max_length=200)
    currency = fields.CurrencyField()
    locale = fields.LocaleField()
    country_code = fields.CountryField()
    domain = fields.DomainField(required=False, allow_null=True)
    prices_include_tax = fields.BooleanField(required=False)


class MarketChanges(MarketInput):
    status = serializers.ChoiceField(Market.Status.choices, required=False)


class MarketOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField()
    name = serializers.CharField()
    currency = serializers.CharField()
    locale = serializers.CharField()
    country_code = serializers.CharField()
    domain = serializers.CharField(allow_null=True)
    prices_include_tax = serializers.BooleanField()
    status = serializers.ChoiceField(Market.Status.choices)
    created_at = TimestampField()
    updated_at = TimestampField()


class ApiKeyInput(Input):
    kind = serializers.ChoiceField(ApiKey.Kind.choices)
    name = fields.TextField(max_length=200)
    scopes = fields.ListField(
        child=serializers.ChoiceField(SCOPES), required=False, allow_null=True, max_length=len(SCOPES)
    )
    expires_at = fields.DateTimeField(required=False, allow_null=True)


class RotationInput(Input):
    # In seconds, at most a year. A day to a month is usual.
    grace_seconds = fields.IntegerField(required=False, default=0, max_value=31_536_000)


class ApiKeyOutput(Output):
    id = fields.IdField()
    kind = serializers.ChoiceField(ApiKey.Kind.choices)
    name = serializers.CharField()
    prefix = serializers.CharField()
    scopes = serializers.ListField(child=serializers.CharField())
    created_at = TimestampField()
    expires_at = TimestampField(allow_null=True)
    last_used_at = TimestampField(allow_null=True)
    revoked_at = TimestampField(allow_null=True)


class IssuedKeyOutput(ApiKeyOutput):
    secret = serializers.CharField(allow_null=True, help_text="Shown in this answer only.")
