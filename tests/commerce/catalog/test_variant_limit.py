"""The maximum number of variants of a product."""

import pytest

from commerce.catalog.errors import TooManyVariants
from commerce.catalog.operations import variants
from tests import factories
from tests.problems import problem
from tests.threads import run_threads


def add(shop, product, sku):
    return shop.admin.post(f"products/{product.pk}/variants.json", {"sku": sku})


def skus(shop, product):
    shown = shop.admin.get(f"products/{product.pk}.json").json()["product"]["variants"]
    return [variant["sku"] for variant in shown if variant["archived_at"] is None]


def test_variant_past_the_limit_is_refused(shop, monkeypatch):
    monkeypatch.setattr(variants, "MAX_VARIANTS_PER_PRODUCT", 1)
    product = factories.make_product(shop)
    first = add(shop, product, "A").json()["variant"]

    refused = add(shop, product, "B")

    assert (problem(refused), refused.json()["max_variants"]) == ((422, "too_many_variants"), 1)
    assert skus(shop, product) == ["A"]
    shop.admin.delete(f"variants/{first['id']}.json")
    assert add(shop, product, "B").status_code == 201


def test_variants_that_pass_the_limit_together_are_all_refused(shop, monkeypatch):
    monkeypatch.setattr(variants, "MAX_VARIANTS_PER_PRODUCT", 3)
    product = factories.make_product(shop)
    with shop.scope():
        variants.add_variants(product_id=product.pk, variants=[{"sku": "A"}, {"sku": "B"}])

    with shop.scope(), pytest.raises(TooManyVariants):
        variants.add_variants(product_id=product.pk, variants=[{"sku": "C"}, {"sku": "D"}])

    assert skus(shop, product) == ["A", "B"]


@pytest.mark.django_db(transaction=True)
def test_variants_added_at_once_stay_within_the_limit(shop, monkeypatch):
    monkeypatch.setattr(variants, "MAX_VARIANTS_PER_PRODUCT", 2)
    product = factories.make_product(shop)

    statuses = run_threads(6, lambda index: add(shop, product, f"SKU{index}").status_code)

    assert sorted(statuses) == [201] * 2 + [422] * 4
    assert len(skus(shop, product)) == 2
