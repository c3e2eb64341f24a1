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
    described_by = "MarketPriceOutput"

    currency = fields.CurrencyField(
        required=False,
        help_text="The market's currency unless given. A variant with another currency can't be added to carts of the market.",
    )
    price_cents = fields.CentsField(max_value=MAX_PRICE_CENTS)
    compare_at_price_cents = fields.CentsField(required=False, allow_null=True, max_value=MAX_PRICE_CENTS)


class MarketPricingInput(PricingInput):
    market_id = fields.IdField()


class VariantChanges(Input):
    described_by = "VariantOutput"

    sku = fields.TextField(max_length=MAX_SKU)
    title = fields.TextField(required=False, allow_blank=True, max_length=MAX_TITLE)
    weight_grams = fields.IntegerField(required=False, max_value=MAX_WEIGHT_GRAMS)
    tax_class = fields.TokenField(required=False)
    track_inventory = fields.BooleanField(required=False)
    allow_backorder = fields.BooleanField(required=False)


class VariantInput(VariantChanges):
    pricing = fields.ListField(
        child=MarketPricingInput(),
        required=False,
        max_length=MAX_PRICES,
        help_text="Prices in some of the markets.",
    )


class ProductChanges(Input):
    described_by = "ProductOutput"

    handle = fields.HandleField()
    title = fields.TextField(max_length=MAX_TITLE)
    description = fields.TextField(required=False, allow_blank=True, max_length=MAX_DESCRIPTION)
    status = serializers.ChoiceField(Product.Status.values, required=False)


class ProductInput(ProductChanges):
    status = serializers.ChoiceField(
        NEW_STATUSES, required=False, help_text="`draft` or `active`, which is the default."
    )
    variants = fields.ListField(
        child=VariantInput(), required=False, max_length=MAX_VARIANTS, help_text="Variants to add with it."
    )


class ProductFilter(Input):
    described_by = "ProductOutput"

    status = serializers.ChoiceField(Product.Status.values, required=False)
    handle = fields.HandleField(required=False)


class OfferFilter(Input):
    market_id = fields.IdField(required=False, help_text="Show only this market's prices.")


class OffersFilter(OfferFilter):
    handle = fields.HandleField(required=False, help_text="Only the product with this handle.")


class MarketPriceOutput(Output):
    market_id = fields.IdField()
    currency = serializers.CharField()
    price_cents = fields.CentsField(help_text="The price, with tax where the market's prices include it.")
    compare_at_price_cents = fields.CentsField(
        allow_null=True, help_text="An earlier or recommended price, shown beside it."
    )


class VariantPricingOutput(MarketPriceOutput):
    variant_id = fields.IdField()
    updated_at = TimestampField()


class VariantOutput(Output):
    id = fields.IdField()
    product_id = fields.IdField()
    sku = serializers.CharField(help_text="Stock keeping unit: unique among the shop's live variants.")
    title = serializers.CharField(
        help_text="What distinguishes it from the product's other variants, such as `L`."
    )
    weight_grams = serializers.IntegerField(help_text="The weight of one unit.")
    tax_class = serializers.CharField(help_text="Which of a country's tax rates applies, such as `standard`.")
    track_inventory = serializers.BooleanField(help_text="Whether its stock is counted.")
    allow_backorder = serializers.BooleanField(help_text="Whether it can be sold without stock.")
    pricing = MarketPriceOutput(many=True, help_text="Its price in each market.")
    archived_at = TimestampField(allow_null=True, help_text="When it was archived; null while it is live.")
    created_at = TimestampField()
    updated_at = TimestampField()


class ProductOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField(help_text="Unique among the shop's products, for URLs.")
    title = serializers.CharField(help_text="What customers see.")
    description = serializers.CharField(help_text="A longer text for customers.")
    status = serializers.ChoiceField(
        Product.Status.values, help_text="`draft`, `active` or `archived`. Only active products are offered."
    )
    variants = VariantOutput(many=True, help_text="What can be bought.")
    archived_at = TimestampField(allow_null=True, help_text="When it was archived; null while it isn't.")
    created_at = TimestampField()
    updated_at = TimestampField()


class OfferedVariantOutput(Output):
    id = fields.IdField()
    sku = serializers.CharField(help_text="Stock keeping unit.")
    title = serializers.CharField(help_text="What distinguishes it from the product's other variants.")
    weight_grams = serializers.IntegerField(help_text="The weight of one unit.")
    pricing = MarketPriceOutput(
        many=True, help_text="Its prices: in one market if one was asked for, else in all."
    )


class OfferedProductOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField(help_text="For URLs.")
    title = serializers.CharField(help_text="What customers see.")
    description = serializers.CharField(help_text="A longer text for customers.")
    variants = OfferedVariantOutput(many=True, help_text="What can be bought.")
