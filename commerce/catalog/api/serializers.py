from typing import Any

from rest_framework import serializers

from commerce.catalog.models import Product
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField

# With these limits, the total of a full cart including tax fits in 64 bits.
MAX_PRICE_CENTS = 100_000_000_000
MAX_WEIGHT_GRAMS = 100_000_000
MAX_VARIANTS = 100
MAX_PRICES = 100


class PricingInput(Input):
    currency = fields.CurrencyField(required=False)
    price_cents = fields.CentsField(max_value=MAX_PRICE_CENTS)
    compare_at_price_cents = fields.CentsField(required=False, allow_null=True, max_value=MAX_PRICE_CENTS)


class MarketPricingInput(PricingInput):
    market_id = fields.IdField()


class VariantChanges(Input):
    sku = fields.TextField(max_length=64)
    title = fields.TextField(required=False, allow_blank=True, max_length=255)
    weight_grams = fields.IntegerField(required=False, max_value=MAX_WEIGHT_GRAMS)
    tax_class = fields.TokenField(required=False)
    track_inventory = fields.BooleanField(required=False)
    allow_backorder = fields.BooleanField(required=False)


class VariantInput(VariantChanges):
    pricing = fields.ListField(child=MarketPricingInput(), required=False, max_length=MAX_PRICES)

    def validate_pricing(self, pricing: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len({price["market_id"] for price in pricing}) < len(pricing):
            raise serializers.ValidationError("A market may have only one price.", code="duplicate")
        return pricing


class ProductChanges(Input):
    handle = fields.HandleField()
    title = fields.TextField(max_length=255)
    description = fields.TextField(required=False, allow_blank=True, max_length=50_000)
    status = serializers.ChoiceField(Product.Status.values, required=False)


class ProductInput(ProductChanges):
    status = serializers.ChoiceField([Product.Status.DRAFT, Product.Status.ACTIVE], required=False)
    variants = fields.ListField(child=VariantInput(), required=False, max_length=MAX_VARIANTS)


class ProductFilter(Input):
    status = serializers.ChoiceField(Product.Status.values, required=False)
    handle = fields.HandleField(required=False)


class OfferFilter(Input):
    market_id = fields.IdField(required=False)


class OffersFilter(OfferFilter):
    handle = fields.HandleField(required=False)


class MarketPriceOutput(Output):
    market_id = fields.IdField()
    currency = serializers.CharField()
    price_cents = fields.CentsField()
    compare_at_price_cents = fields.CentsField(allow_null=True)


class VariantPricingOutput(MarketPriceOutput):
    variant_id = fields.IdField()
    updated_at = TimestampField()


class VariantOutput(Output):
    id = fields.IdField()
    product_id = fields.IdField()
    sku = serializers.CharField()
    title = serializers.CharField()
    weight_grams = serializers.IntegerField()
    tax_class = serializers.CharField()
    track_inventory = serializers.BooleanField()
    allow_backorder = serializers.BooleanField()
    pricing = MarketPriceOutput(many=True)
    archived_at = TimestampField(allow_null=True)
    created_at = TimestampField()
    updated_at = TimestampField()


class ProductOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    status = serializers.ChoiceField(Product.Status.values)
    variants = VariantOutput(many=True)
    archived_at = TimestampField(allow_null=True)
    created_at = TimestampField()
    updated_at = TimestampField()


class OfferedVariantOutput(Output):
    id = fields.IdField()
    sku = serializers.CharField()
    title = serializers.CharField()
    weight_grams = serializers.IntegerField()
    pricing = MarketPriceOutput(many=True)


class OfferedProductOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    variants = OfferedVariantOutput(many=True)
