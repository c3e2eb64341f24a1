"""Builds answers as plain dictionaries. A page of products has thousands of fields, too many for serializers."""

from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.formats import cents, text_id, timestamp


def shape_product(row: Product) -> dict[str, object]:
    return {
        "id": text_id(row.pk),
        "handle": row.handle,
        "title": row.title,
        "description": row.description,
        "status": row.status,
        "variants": [shape_variant(each) for each in row.variants.all()],
        "archived_at": timestamp(row.archived_at),
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
    }


def shape_variant(row: Variant) -> dict[str, object]:
    return {
        "id": text_id(row.pk),
        "product_id": text_id(row.product_id),
        "sku": row.sku,
        "title": row.title,
        "weight_grams": row.weight_grams,
        "tax_class": row.tax_class,
        "track_inventory": row.track_inventory,
        "allow_backorder": row.allow_backorder,
        "pricing": [shape_market_price(each) for each in row.pricing.all()],
        "archived_at": timestamp(row.archived_at),
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
    }


def shape_pricing(row: VariantPricing) -> dict[str, object]:
    return shape_market_price(row) | {
        "variant_id": text_id(row.variant_id),
        "updated_at": timestamp(row.updated_at),
    }


def shape_market_price(row: VariantPricing) -> dict[str, object]:
    return {
        "market_id": text_id(row.market_id),
        "currency": row.currency,
        "price_cents": cents(row.price_cents),
        "compare_at_price_cents": cents(row.compare_at_price_cents),
    }


def shape_offered_product(row: Product) -> dict[str, object]:
    return {
        "id": text_id(row.pk),
        "handle": row.handle,
        "title": row.title,
        "description": row.description,
        "variants": [shape_offered_variant(each) for each in row.variants.all()],
    }


def shape_offered_variant(row: Variant) -> dict[str, object]:
    return {
        "id": text_id(row.pk),
        "sku": row.sku,
        "title": row.title,
        "weight_grams": row.weight_grams,
        "pricing": [shape_market_price(each) for each in row.pricing.all()],
    }
