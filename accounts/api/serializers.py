from rest_framework import serializers

from accounts.models import Account, ApiKey, Market
from accounts.rules import MAX_GRACE_S, MAX_NAME, MAX_VAT_NUMBER, account_handle
from commerce.principal import SCOPES
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class AccountHandleField(fields.FormattedField):
    rule = staticmethod(account_handle)


class AccountDetails(Input):
    default_locale = fields.LocaleField(required=False)
    default_timezone = fields.TimeZoneField(required=False)
    country_code = fields.CountryField(required=False, allow_null=True)
    vat_number = fields.TextField(required=False, allow_null=True, max_length=MAX_VAT_NUMBER)
    email_from = fields.EmailField(required=False, allow_null=True)


class AccountInput(AccountDetails):
    handle = AccountHandleField()
    name = fields.TextField(max_length=MAX_NAME)
    default_currency = fields.CurrencyField()


class AccountUpdate(AccountDetails):
    """Any of an account's fields except the handle, with the version that the caller has read."""

    # The column is an int4, so no version is larger.
    expected_version = fields.IntegerField(min_value=1, max_value=2_147_483_647)
    name = fields.TextField(max_length=MAX_NAME, required=False)
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
    name = fields.TextField(max_length=MAX_NAME)
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
    name = fields.TextField(max_length=MAX_NAME)
    scopes = fields.ListField(
        child=serializers.ChoiceField(SCOPES), required=False, allow_null=True, max_length=len(SCOPES)
    )
    expires_at = fields.DateTimeField(required=False, allow_null=True)


class RotationInput(Input):
    grace_seconds = fields.IntegerField(required=False, default=0, max_value=MAX_GRACE_S)


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
    # Null when the answer is replayed (decision 0004).
    secret = serializers.CharField(allow_null=True, help_text="Shown in this answer only.")
