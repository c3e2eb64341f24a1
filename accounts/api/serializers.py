from rest_framework import serializers

from accounts.models import Account, ApiKey, Market
from accounts.rules import MAX_GRACE_S, MAX_NAME, MAX_VAT_NUMBER, account_handle
from commerce.principal import SCOPES
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class AccountHandleField(fields.FormattedField):
    rule = staticmethod(account_handle)


class AccountDetails(Input):
    described_by = "AccountOutput"

    default_locale = fields.LocaleField(required=False)
    default_timezone = fields.TimeZoneField(required=False)
    country_code = fields.CountryField(required=False, allow_null=True)
    vat_number = fields.TextField(required=False, allow_null=True, max_length=MAX_VAT_NUMBER)
    email_from = fields.EmailField(required=False, allow_null=True)


class AccountInput(AccountDetails):
    handle = AccountHandleField(
        help_text="Unique on the whole platform. Lower-case letters, digits and hyphens, with at least one letter. It is part of the shop's URLs, and can't change."
    )
    name = fields.TextField(max_length=MAX_NAME)
    default_currency = fields.CurrencyField()


class AccountUpdate(AccountDetails):
    """Any of an account's fields except the handle, with the version that the caller has read."""

    # The column is an int4, so no version is larger.
    expected_version = fields.IntegerField(
        min_value=1, max_value=2_147_483_647, help_text="The `version` that was read."
    )
    name = fields.TextField(max_length=MAX_NAME, required=False)
    default_currency = fields.CurrencyField(required=False)


class AccountFilter(Input):
    include_archived = fields.QueryBooleanField(
        required=False, default=False, help_text="Whether archived shops are listed too."
    )


class AccountOutput(Output):
    id = fields.IdField()
    workspace_id = serializers.UUIDField(help_text="The workspace that owns the shop.")
    handle = serializers.CharField(help_text="Unique on the whole platform, and part of the shop's URLs.")
    name = serializers.CharField(help_text="The shop's name, which customers see.")
    default_currency = serializers.CharField(help_text="The currency of amounts that belong to no market.")
    default_locale = serializers.CharField(help_text="The language of emails to customers who have none.")
    default_timezone = serializers.CharField(
        help_text="The shop's time zone, a name of the tz database such as `Europe/Berlin`."
    )
    country_code = serializers.CharField(
        allow_null=True, help_text="The country in which the seller is established."
    )
    vat_number = serializers.CharField(
        allow_null=True,
        help_text="The seller's VAT number with its country's prefix. Without one, nothing is sold by reverse charge.",
    )
    email_from = serializers.CharField(
        allow_null=True, help_text="The sender's address of the shop's emails."
    )
    status = serializers.ChoiceField(
        Account.Status.choices, help_text="`active`, `suspended` by the operators, or `archived`."
    )
    version = serializers.IntegerField(help_text="Counts the changes. A PUT sends it as `expected_version`.")
    archived_at = TimestampField(allow_null=True, help_text="When it was archived; null while it isn't.")
    created_at = TimestampField()
    updated_at = TimestampField()


class MarketInput(Input):
    described_by = "MarketOutput"

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
    handle = serializers.CharField(help_text="Unique in the shop.")
    name = serializers.CharField(help_text="What staff call it.")
    currency = serializers.CharField(help_text="The currency of all prices in it.")
    locale = serializers.CharField(help_text="The language of carts, checkouts and emails in it.")
    country_code = serializers.CharField(help_text="The country whose taxes are charged.")
    domain = serializers.CharField(
        allow_null=True, help_text="The storefront's host name, if the market has one of its own."
    )
    prices_include_tax = serializers.BooleanField(
        help_text="Whether prices include tax; otherwise tax is added to them."
    )
    status = serializers.ChoiceField(Market.Status.choices, help_text="`active` or `inactive`.")
    created_at = TimestampField()
    updated_at = TimestampField()


class ApiKeyInput(Input):
    described_by = "ApiKeyOutput"

    kind = serializers.ChoiceField(ApiKey.Kind.choices)
    name = fields.TextField(max_length=MAX_NAME)
    scopes = fields.ListField(
        child=serializers.ChoiceField(SCOPES),
        required=False,
        allow_null=True,
        max_length=len(SCOPES),
        help_text="What an admin or workspace key may do: `read_` or `write_` and an area. None given means all; `write_` implies `read_`. Storefront keys have none.",
    )
    expires_at = fields.DateTimeField(
        required=False, allow_null=True, help_text="When it stops working; null for never."
    )


class RotationInput(Input):
    grace_seconds = fields.IntegerField(
        required=False,
        default=0,
        max_value=MAX_GRACE_S,
        help_text="How long the old key still works; 0 ends it at once.",
    )


class ApiKeyOutput(Output):
    id = fields.IdField()
    kind = serializers.ChoiceField(
        ApiKey.Kind.choices,
        help_text="`workspace` (all shops of the workspace), `admin` (one shop) or `storefront` (one shop, for shoppers).",
    )
    name = serializers.CharField(help_text="What it is for.")
    prefix = serializers.CharField(help_text="The beginning of the secret, to recognise it by.")
    scopes = serializers.ListField(
        child=serializers.CharField(), help_text="What the key may do; empty for storefront keys."
    )
    created_at = TimestampField()
    expires_at = TimestampField(allow_null=True, help_text="When it stops working; null for never.")
    last_used_at = TimestampField(
        allow_null=True, help_text="When it was last used, within some minutes; null if it never was."
    )
    revoked_at = TimestampField(allow_null=True, help_text="When it was revoked; null if it wasn't.")


class IssuedKeyOutput(ApiKeyOutput):
    # Null when the answer is replayed (decision 0004).
    secret = serializers.CharField(
        allow_null=True, help_text="Shown in this answer only: null in a replayed one."
    )
