from rest_framework import serializers

from commerce.catalog.models import Product
from commerce.catalog.rules import (
    MAX_DESCRIPTION,
    MAX_PRICE_CENTS,
    MAX_PRICES,
    MAX_SKU,
    MAX_TITLE,
    MAX_VARIANTS,
    MAX_WEIGHT_GRAMS,
    NEW_STATUSES,
)
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class PricingInput(Input):
    currency = fields.CurrencyField(required=False)
    price_cents = fields.CentsField(max_value=MAX_PRICE_CENTS)
    compare_at_price_cents = fields.CentsField(required=False, allow_null=True, max_value=MAX_PRICE_CENTS)


class MarketPricingInput(PricingInput):
    market_id = fields.IdField()


class VariantChanges(Input):
    sku = fields.TextField(max_length=MAX_SKU)
    title = fields.TextField(required=False, allow_blank=True, max_length=MAX_TITLE)
    weight_grams = fields.IntegerField(required=False, max_value=MAX_WEIGHT_GRAMS)
    tax_class = fields.TokenField(required=False)
    track_inventory = fields.BooleanField(required=False)
    allow_backorder = fields.BooleanField(required=False)


class VariantInput(VariantChanges):
    pricing = fields.ListField(child=MarketPricingInput(), required=False, max_length=MAX_PRICES)


class ProductChanges(Input):
    handle = fields.HandleField()
    title = fields.TextField(max_length=MAX_TITLE)
    description = fields.TextField(required=False, allow_blank=True, max_length=MAX_DESCRIPTION)
    status = serializers.ChoiceField(Product.Status.values, required=False)


class ProductInput(ProductChanges):
    status = serializers.ChoiceField(NEW_STATUSES, required=False)
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
