"""Plain dictionaries match the OpenAPI document."""

from commerce.catalog.api import serializers, shapes
from commerce.catalog.models import VariantPricing
from commerce.catalog.queries import get_product_with_variants
from tests.factories import make_variant


def test_shapes_have_the_fields_of_the_serializers_that_describe_them(shop):
    variant = make_variant(shop)

    with shop.scope():
        product = get_product_with_variants(variant.product_id)
        admin, offered = shapes.shape_product(product), shapes.shape_offered_product(product)
        pricing = shapes.shape_pricing(VariantPricing.objects.get())

    described = {
        serializers.ProductOutput: admin,
        serializers.VariantOutput: admin["variants"][0],
        serializers.MarketPriceOutput: admin["variants"][0]["pricing"][0],
        serializers.VariantPricingOutput: pricing,
        serializers.OfferedProductOutput: offered,
        serializers.OfferedVariantOutput: offered["variants"][0],
    }
    assert {output: set(output().fields) for output in described} == {
        output: set(shape) for output, shape in described.items()
    }
