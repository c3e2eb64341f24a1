from typing import Any

from rest_framework import serializers

from commerce.errors import FieldError
from commerce.formats import as_text
from commerce.rest import fields
from commerce.rest.errors import ReadOnlyField
from commerce.rest.shapes import Input, Output, TimestampField
from shipping.matching import Option
from shipping.models import PickupPoint, ShippingMethod
from shipping.rules import (
    MAX_COUNTRIES,
    MAX_DAYS,
    MAX_NAME,
    MAX_ZIP_PATTERN,
    MAX_ZIP_PATTERNS,
    zip_pattern,
)


class ZipPatternField(fields.FormattedField):
    rule = staticmethod(zip_pattern)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_ZIP_PATTERN, **kwargs)


class ZoneInput(Input):
    handle = fields.HandleField()
    name = fields.TextField(max_length=MAX_NAME)
    market_id = fields.IdField(required=False, allow_null=True)
    country_codes = fields.ListField(child=fields.CountryField(), allow_empty=False, max_length=MAX_COUNTRIES)
    zip_patterns = fields.ListField(child=ZipPatternField(), required=False, max_length=MAX_ZIP_PATTERNS)


class ZoneOutput(Output):
    id = fields.IdField()
    market_id = fields.IdField(allow_null=True)
    handle = serializers.CharField()
    name = serializers.CharField()
    country_codes = serializers.ListField(child=serializers.CharField())
    zip_patterns = serializers.ListField(child=serializers.CharField())
    created_at = TimestampField()
    updated_at = TimestampField()


class MethodInput(Input):
    handle = fields.HandleField()
    name = fields.TextField(max_length=MAX_NAME)
    zone_id = fields.IdField()
    carrier = fields.TokenField()
    service_code = fields.TokenField()
    rate_mode = serializers.ChoiceField(ShippingMethod.RateMode.choices)
    requires_pickup_point = fields.BooleanField(required=False)
    is_cod_compatible = fields.BooleanField(required=False)
    estimated_days_min = fields.IntegerField(required=False, allow_null=True, max_value=MAX_DAYS)
    estimated_days_max = fields.IntegerField(required=False, allow_null=True, max_value=MAX_DAYS)
    cod_fee_cents = fields.CentsField(required=False)
    carrier_config = fields.ObjectField(required=False)


class RateInput(Input):
    refused_fields = frozenset({"is_free"})

    price_cents = fields.CentsField()
    currency = fields.CurrencyField()
    display_name = fields.TextField(required=False, allow_null=True, max_length=MAX_NAME)
    min_weight_grams = fields.IntegerField(required=False, allow_null=True)
    max_weight_grams = fields.IntegerField(required=False, allow_null=True)
    min_subtotal_cents = fields.CentsField(required=False, allow_null=True)
    max_subtotal_cents = fields.CentsField(required=False, allow_null=True)
    min_quantity = fields.IntegerField(required=False, allow_null=True)
    max_quantity = fields.IntegerField(required=False, allow_null=True)

    def to_internal_value(self, data: Any) -> object:
        # DRF would ignore a field that isn't declared, and the client would believe that it had set it.
        if "is_free" in data:
            raise ReadOnlyField(
                errors=(FieldError("is_free", "read_only_field", "Derived from price_cents."),)
            )
        return super().to_internal_value(data)


class RateOutput(Output):
    id = fields.IdField()
    method_id = fields.IdField()
    price_cents = fields.CentsField()
    currency = serializers.CharField()
    display_name = serializers.CharField(allow_null=True)
    min_weight_grams = serializers.IntegerField(allow_null=True)
    max_weight_grams = serializers.IntegerField(allow_null=True)
    min_subtotal_cents = fields.CentsField(allow_null=True)
    max_subtotal_cents = fields.CentsField(allow_null=True)
    min_quantity = serializers.IntegerField(allow_null=True)
    max_quantity = serializers.IntegerField(allow_null=True)
    is_free = serializers.BooleanField()
    is_automatic = serializers.BooleanField(
        help_text="Created for a free method without rates, when a shopper chose it."
    )
    created_at = TimestampField()
    updated_at = TimestampField()


class QuotedMethodOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField()
    name = serializers.CharField()
    carrier = serializers.CharField()
    service_code = serializers.CharField()
    rate_mode = serializers.ChoiceField(ShippingMethod.RateMode.choices)
    requires_pickup_point = serializers.BooleanField()
    is_cod_compatible = serializers.BooleanField()
    estimated_days_min = serializers.IntegerField(allow_null=True)
    estimated_days_max = serializers.IntegerField(allow_null=True)
    cod_fee_cents = fields.CentsField(help_text="In the currency of the chosen rate.")


class MethodOutput(QuotedMethodOutput):
    zone_id = fields.IdField()
    carrier_config = fields.ObjectField()
    rates = RateOutput(many=True)
    created_at = TimestampField()
    updated_at = TimestampField()


class QuoteInput(Input):
    country_code = fields.CountryField()
    zip = fields.TextField(required=False, allow_blank=True, allow_null=True, max_length=32)
    weight_grams = fields.IntegerField()
    quantity = fields.IntegerField(required=False, min_value=1)
    subtotal_cents = fields.CentsField()
    currency = fields.CurrencyField()
    market_id = fields.IdField(required=False, allow_null=True)


class QuoteOutput(Output):
    """One option of a quote."""

    method = QuotedMethodOutput()
    rate_id = fields.IdField()
    price_cents = fields.CentsField()
    currency = serializers.CharField()
    is_free = serializers.BooleanField()
    is_best = serializers.BooleanField(help_text="Whether this is the first option of its method.")
    display_name = serializers.CharField(help_text="The rate's name, or the method's if the rate has none.")


def shape_quote(option: Option) -> dict[str, object]:
    """Return an option in the shape of `QuoteOutput`."""
    return {
        "method": as_text(option.method),
        "rate_id": str(option.rate.id),
        "price_cents": str(option.rate.price_cents),
        "currency": option.rate.currency,
        "is_free": option.rate.is_free,
        "is_best": option.is_best,
        "display_name": option.display_name,
    }


class PickupPointFilters(Input):
    carrier = fields.TokenField(required=False)
    country_code = fields.CountryField(required=False)
    postcode_prefix = fields.TextField(required=False, max_length=16)
    status = serializers.ChoiceField(PickupPoint.Status.choices, required=False)


class PickupPointOutput(Output):
    id = fields.IdField()
    carrier = serializers.CharField()
    external_id = serializers.CharField()
    kind = serializers.ChoiceField(PickupPoint.Kind.choices)
    name = serializers.CharField()
    address1 = serializers.CharField()
    city = serializers.CharField()
    zip = serializers.CharField()
    country_code = serializers.CharField()
    latitude = serializers.FloatField(allow_null=True)
    longitude = serializers.FloatField(allow_null=True)
    opening_hours = serializers.DictField(allow_null=True)
    is_cod_supported = serializers.BooleanField()
    max_weight_grams = serializers.IntegerField(allow_null=True)
    status = serializers.ChoiceField(PickupPoint.Status.choices)
    updated_at = TimestampField()
