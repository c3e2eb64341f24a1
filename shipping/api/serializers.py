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
    described_by = "ZoneOutput"

    handle = fields.HandleField()
    name = fields.TextField(max_length=MAX_NAME)
    market_id = fields.IdField(required=False, allow_null=True)
    country_codes = fields.ListField(child=fields.CountryField(), allow_empty=False, max_length=MAX_COUNTRIES)
    zip_patterns = fields.ListField(child=ZipPatternField(), required=False, max_length=MAX_ZIP_PATTERNS)


class ZoneOutput(Output):
    id = fields.IdField()
    market_id = fields.IdField(allow_null=True, help_text="The market that it is for; null for all.")
    handle = serializers.CharField(help_text="Unique among the shop's zones.")
    name = serializers.CharField(help_text="What staff call it.")
    country_codes = serializers.ListField(child=serializers.CharField(), help_text="The countries.")
    zip_patterns = serializers.ListField(
        child=serializers.CharField(),
        help_text="The postcodes: exact ones, or beginnings such as `12*`. Empty means all of the countries.",
    )
    created_at = TimestampField()
    updated_at = TimestampField()


class MethodInput(Input):
    described_by = "MethodOutput"

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
    described_by = "RateOutput"

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
    price_cents = fields.CentsField(help_text="What it costs; 0 is free.")
    currency = serializers.CharField(help_text="The currency of all its amounts.")
    display_name = serializers.CharField(
        allow_null=True, help_text="What customers see instead of the method's name."
    )
    min_weight_grams = serializers.IntegerField(
        allow_null=True, help_text="The lightest parcel, inclusive; null for any."
    )
    max_weight_grams = serializers.IntegerField(
        allow_null=True, help_text="The heaviest parcel, inclusive; null for any."
    )
    min_subtotal_cents = fields.CentsField(
        allow_null=True, help_text="The lowest subtotal before discounts, inclusive; null for any."
    )
    max_subtotal_cents = fields.CentsField(
        allow_null=True, help_text="The highest subtotal before discounts, inclusive; null for any."
    )
    min_quantity = serializers.IntegerField(
        allow_null=True, help_text="The fewest units, inclusive; null for any."
    )
    max_quantity = serializers.IntegerField(
        allow_null=True, help_text="The most units, inclusive; null for any."
    )
    is_free = serializers.BooleanField(help_text="Whether the price is 0. Computed: it can't be sent.")
    is_automatic = serializers.BooleanField(
        help_text="Created for a free method without rates, when a shopper chose it."
    )
    created_at = TimestampField()
    updated_at = TimestampField()


class QuotedMethodOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField(help_text="Unique among the shop's methods.")
    name = serializers.CharField(help_text="What customers see.")
    carrier = serializers.CharField(help_text="The carrier's code, such as `dhl`.")
    service_code = serializers.CharField(help_text="The carrier's service, such as `parcel`.")
    rate_mode = serializers.ChoiceField(
        ShippingMethod.RateMode.choices,
        help_text="`flat` (one price), `tiered` (by weight, subtotal and quantity) or `free`. `carrier_api` is reserved.",
    )
    requires_pickup_point = serializers.BooleanField(
        help_text="Whether the shopper must choose a pickup point."
    )
    is_cod_compatible = serializers.BooleanField(help_text="Whether it takes cash on delivery.")
    estimated_days_min = serializers.IntegerField(allow_null=True, help_text="The fewest days that it takes.")
    estimated_days_max = serializers.IntegerField(allow_null=True, help_text="The most days that it takes.")
    cod_fee_cents = fields.CentsField(
        help_text="The fee for cash on delivery, in the currency of the chosen rate."
    )


class MethodOutput(QuotedMethodOutput):
    zone_id = fields.IdField()
    carrier_config = fields.ObjectField(help_text="Settings for the carrier, such as `shop_id`.")
    rates = RateOutput(many=True, help_text="Its prices.")
    created_at = TimestampField()
    updated_at = TimestampField()


class QuoteInput(Input):
    country_code = fields.CountryField(help_text="Where the parcel goes.")
    zip = fields.TextField(
        required=False, allow_blank=True, allow_null=True, max_length=32, help_text="The postcode there."
    )
    weight_grams = fields.IntegerField(help_text="The parcel's weight.")
    quantity = fields.IntegerField(required=False, min_value=1, help_text="Number of units; 1 unless given.")
    subtotal_cents = fields.CentsField(help_text="What the goods cost, before discounts.")
    currency = fields.CurrencyField(
        help_text="The currency of the subtotal. Only rates in this currency are quoted."
    )
    market_id = fields.IdField(
        required=False,
        allow_null=True,
        help_text="Only zones of this market and those for all markets. Without it, the zones of every market.",
    )


class QuoteOutput(Output):
    """One option of a quote."""

    method = QuotedMethodOutput(help_text="The way to deliver.")
    rate_id = fields.IdField(help_text="The rate, for choosing it.")
    price_cents = fields.CentsField(help_text="What it costs.")
    currency = serializers.CharField()
    is_free = serializers.BooleanField(help_text="Whether the price is 0.")
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
    described_by = "PickupPointOutput"

    carrier = fields.TokenField(required=False)
    country_code = fields.CountryField(required=False)
    postcode_prefix = fields.TextField(
        required=False,
        max_length=16,
        help_text="Only points whose postcode begins with this. Spaces and hyphens are ignored.",
    )
    status = serializers.ChoiceField(
        PickupPoint.Status.choices, required=False, help_text="`active` unless given."
    )


class PickupPointOutput(Output):
    id = fields.IdField()
    carrier = serializers.CharField(help_text="The carrier's code.")
    external_id = serializers.CharField(help_text="The carrier's id of the point.")
    kind = serializers.ChoiceField(PickupPoint.Kind.choices, help_text="`point` (a shop) or `locker`.")
    name = serializers.CharField()
    address1 = serializers.CharField(help_text="Street and number.")
    city = serializers.CharField(help_text="City.")
    zip = serializers.CharField(help_text="Postcode.")
    country_code = serializers.CharField()
    latitude = serializers.FloatField(allow_null=True, help_text="In degrees, north is positive.")
    longitude = serializers.FloatField(allow_null=True, help_text="In degrees, east is positive.")
    opening_hours = serializers.DictField(allow_null=True, help_text="As the carrier gives them.")
    is_cod_supported = serializers.BooleanField(help_text="Whether it takes cash on delivery.")
    max_weight_grams = serializers.IntegerField(
        allow_null=True, help_text="The heaviest parcel; null for any."
    )
    status = serializers.ChoiceField(PickupPoint.Status.choices, help_text="`active` or `closed`.")
    updated_at = TimestampField()
