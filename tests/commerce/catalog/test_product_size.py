"""A product's answer contains all its variants and prices, so they are bounded in bytes."""

import pytest

from accounts.models import Market
from commerce.catalog.models import Variant, VariantPricing
from commerce.catalog.operations import sizes
from tests import factories
from tests.problems import field_errors, problem
from tests.threads import run_threads


def make_markets(shop, number):
    with shop.scope():
        return Market.objects.bulk_create(
            Market(
                handle=f"m{index}",
                name="M",
                currency="EUR",
                locale="de-DE",
                country_code="DE",
                domain=f"m{index}.example",
            )
            for index in range(number)
        )


def set_price(shop, variant, market, price_cents=100):
    path = f"variants/{variant.pk}/pricing/{market.pk}.json"
    return shop.admin.put(path, {"price_cents": price_cents})


def count_prices(shop):
    with shop.scope():
        return VariantPricing.objects.count()


@pytest.fixture
def product(shop):
    return factories.make_product(shop)


@pytest.fixture
def variant(shop, product):
    """A variant that takes 1,000 bytes with its prices: 400, its title of 400 bytes, and 100 for each of two prices."""
    variant = factories.make_variant(shop, product=product, title="é" * 200, stock=None)
    for market in make_markets(shop, 1):
        factories.set_price(shop, variant, 100, market=market)
    return variant


@pytest.mark.parametrize(("room", "status"), [(99, 422), (100, 200)])
def test_price_that_makes_a_product_too_large_is_refused(shop, variant, monkeypatch, room, status):
    monkeypatch.setattr(sizes, "MAX_PRODUCT_BYTES", 1000 + room)
    with shop.scope():
        market = Market.objects.create(
            handle="fr", name="FR", currency="EUR", locale="fr-FR", country_code="FR"
        )

    answer = set_price(shop, variant, market)

    assert answer.status_code == status
    assert count_prices(shop) == (3 if status == 200 else 2)
    if status == 422:
        assert problem(answer) == (422, "too_large")
        assert field_errors(answer) == {("market_id", "too_large")}


def test_price_of_a_product_that_is_too_large_can_be_changed(shop, variant, monkeypatch):
    monkeypatch.setattr(sizes, "MAX_PRODUCT_BYTES", 1)

    answer = set_price(shop, variant, shop.market, 777)

    assert (answer.status_code, answer.json()["variant_pricing"]["price_cents"]) == (200, "777")


@pytest.mark.parametrize(("room", "status"), [(500, 422), (501, 201)])
def test_variant_that_makes_a_product_too_large_is_refused(shop, product, variant, monkeypatch, room, status):
    monkeypatch.setattr(sizes, "MAX_PRODUCT_BYTES", 1000 + room)
    body = {"sku": "NEW", "title": "N", "pricing": [{"market_id": shop.market.pk, "price_cents": 100}]}

    answer = shop.admin.post(f"products/{product.pk}/variants.json", body)

    assert answer.status_code == status
    assert count_prices(shop) == (3 if status == 201 else 2)
    if status == 422:
        assert problem(answer) == (422, "too_large")
        assert field_errors(answer) == {("pricing", "too_large")}


@pytest.mark.parametrize(
    ("title", "status"), [("é" * 201, 422), ("e" * 201, 200), ("é" * 200, 200), ("x", 200)]
)
def test_longer_title_that_makes_a_product_too_large_is_refused(shop, variant, monkeypatch, title, status):
    monkeypatch.setattr(sizes, "MAX_PRODUCT_BYTES", 1000)

    answer = shop.admin.put(f"variants/{variant.pk}.json", {"title": title})

    assert answer.status_code == status
    if status == 422:
        assert field_errors(answer) == {("title", "too_large")}


@pytest.mark.django_db(transaction=True)
def test_prices_added_at_once_stay_within_the_size(shop, product, variant, monkeypatch):
    monkeypatch.setattr(sizes, "MAX_PRODUCT_BYTES", 1250)
    with shop.scope():
        markets = [
            Market.objects.create(
                handle=f"at-once-{code.lower()}", name=code, currency="EUR", locale="en-US", country_code=code
            )
            for code in ("FR", "IT", "ES", "PT", "NL", "BE")
        ]

    statuses = run_threads(6, lambda index: set_price(shop, variant, markets[index]).status_code)

    assert sorted(statuses) == [200] * 2 + [422] * 4
    assert count_prices(shop) == 4


def test_answer_about_the_largest_product_has_at_most_four_mebibytes(shop, product):
    markets = make_markets(shop, 100)
    with shop.scope():
        variants = Variant.objects.bulk_create(
            Variant(product=product, sku=f"SKU-{index}", title="Large, blue") for index in range(400)
        )
        VariantPricing.objects.bulk_create(
            VariantPricing(
                variant=variant,
                market=market,
                currency="EUR",
                price_cents=100_000,
                compare_at_price_cents=120_000,
            )
            for variant in variants
            for market in markets
        )
    pricing = [{"market_id": market.pk, "price_cents": 100_000} for market in markets]
    statuses = []
    while not statuses or statuses[-1] == 201:
        body = {"sku": f"NEW-{len(statuses)}", "pricing": pricing}
        statuses.append(shop.admin.post(f"products/{product.pk}/variants.json", body).status_code)

    shown = shop.admin.get(f"products/{product.pk}.json")
    offered = shop.storefront.get(f"products/{product.pk}.json")

    assert (statuses[-1], shown.status_code, offered.status_code) == (422, 200, 200)
    assert 3 * 2**20 < len(shown.content) <= 4 * 2**20
    assert len(offered.content) < len(shown.content)
