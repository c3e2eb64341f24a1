"""Constraints of the database, independent of the application."""

import pytest
from django.utils import timezone

from commerce.catalog.models import Product, Variant, VariantPricing
from tests.commerce.refusals import refused_constraint
from tests.factories import make_product, make_variant, set_price


def test_a_product_handle_is_unique_in_its_account(shop, other_shop):
    make_product(shop, handle="shirt")
    make_product(other_shop, handle="shirt")

    with shop.scope():
        assert (
            refused_constraint(lambda: Product.objects.create(handle="shirt", title="x")) == "products_handle"
        )


def test_a_sku_is_unique_among_live_variants(shop):
    archived = make_variant(shop, sku="S-1", archived_at=timezone.now())
    make_variant(shop, sku="S-1")

    with shop.scope():
        revive = Variant.objects.filter(pk=archived.pk).update
        assert refused_constraint(lambda: revive(archived_at=None)) == "variants_sku"


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"price_cents": -1}, "variant_pricing_price"),
        ({"compare_at_price_cents": -1}, "variant_pricing_compare_at"),
    ],
)
def test_a_price_is_not_negative(shop, fields, constraint):
    make_variant(shop)

    with shop.scope():
        assert refused_constraint(lambda: VariantPricing.objects.update(**fields)) == constraint


def test_a_variant_has_one_price_in_a_market(shop):
    variant = make_variant(shop)

    assert refused_constraint(lambda: set_price(shop, variant, 1)) == "variant_pricing_market"
