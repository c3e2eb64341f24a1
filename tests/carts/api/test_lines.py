"""POST, PATCH and DELETE of carts/{token}/lines."""

import hashlib
from datetime import timedelta

import pytest
from django.utils import timezone

from carts.models import Cart, CartLineItem
from commerce.catalog.models import VariantPricing
from tests import factories
from tests.storefront import cart_with


def add(shop, token, variant, quantity=1, **body):
    return shop.storefront.post(
        f"carts/{token}/lines.json", {"variant_id": variant.pk, "quantity": quantity} | body
    )


def lines_of(shop, token):
    return shop.storefront.get(f"carts/{token}.json").json()["cart"]["line_items"]


def test_line_shows_its_price_both_ways(shop):
    factories.make_tax_rate(shop, 1900)
    product = factories.make_product(shop, title="Mug")
    variant = factories.make_variant(shop, product=product, title="Red", sku="MUG-R", price_cents=999)
    token = cart_with(shop)

    answer = add(shop, token, variant, 3, custom_attributes={"engraving": "Ada"})

    assert answer.status_code == 200
    cart = answer.json()["cart"]
    (line,) = cart["line_items"]
    assert line == {
        "id": line["id"],
        "variant_id": str(variant.pk),
        "product_id": str(product.pk),
        "sku": "MUG-R",
        "title": "Mug - Red",
        "quantity": 3,
        "custom_attributes": {"engraving": "Ada"},
        "custom_attributes_hash": hashlib.sha256(b'{"engraving":"Ada"}').hexdigest(),
        "unit_price_with_tax_cents": "999",
        "unit_price_without_tax_cents": "839",
        "tax_rate_bp": 1900,
        "line_total_with_tax_cents": "2997",
        "line_total_without_tax_cents": "2518",
        "line_tax_cents": "479",
    }
    assert cart["totals"] == {
        "currency": "EUR",
        "subtotal_with_tax_cents": "2997",
        "subtotal_without_tax_cents": "2518",
        "tax_cents": "479",
        "total_cents": "2997",
        "line_count": 1,
        "item_count": 3,
    }


def test_net_market_puts_tax_on_top(make_shop):
    shop = make_shop(currency="USD", country_code="US", locale="en-US", prices_include_tax=False)
    factories.make_tax_rate(shop, 825)
    variant = factories.make_variant(shop, price_cents=1000)
    token = cart_with(shop)

    cart = add(shop, token, variant, 3).json()["cart"]

    assert cart["line_items"][0]["line_total_without_tax_cents"] == "3000"
    assert cart["line_items"][0]["line_tax_cents"] == "248"
    assert cart["totals"]["total_cents"] == "3248"


def test_equal_lines_add_up_whatever_the_order_of_attributes(shop):
    variant = factories.make_variant(shop)
    token = cart_with(shop)

    add(shop, token, variant, 2, custom_attributes={"a": "1", "b": {"c": 2}})
    add(shop, token, variant, 3, custom_attributes={"b": {"c": 2}, "a": "1"})

    (line,) = lines_of(shop, token)
    assert line["quantity"] == 5


def test_attributes_that_look_the_same_are_the_same(shop):
    variant = factories.make_variant(shop)
    token = cart_with(shop)

    add(shop, token, variant, custom_attributes={"name": "Zoë"})
    add(shop, token, variant, custom_attributes={"name": "Zoe\u0308"})

    (line,) = lines_of(shop, token)
    assert line["quantity"] == 2


def test_other_attributes_make_another_line(shop):
    variant = factories.make_variant(shop)
    token = cart_with(shop)

    add(shop, token, variant, custom_attributes={"size": "1"})
    add(shop, token, variant, custom_attributes={"size": 1})
    add(shop, token, variant)

    assert [line["quantity"] for line in lines_of(shop, token)] == [1, 1, 1]


def test_price_snapshot_stays_until_the_quantity_is_updated(shop):
    variant = factories.make_variant(shop, price_cents=1000)
    token = cart_with(shop, (variant, 1))
    with shop.scope():
        VariantPricing.objects.update(price_cents=1200)

    before = lines_of(shop, token)[0]
    shop.storefront.patch(f"carts/{token}/lines/{before['id']}.json", {"quantity": 2})
    after = lines_of(shop, token)[0]

    assert before["unit_price_with_tax_cents"] == "1000"
    assert (after["quantity"], after["unit_price_with_tax_cents"]) == (2, "1200")


def test_every_update_extends_the_cart(shop):
    variant = factories.make_variant(shop)
    token = cart_with(shop, (variant, 1))
    line_id = lines_of(shop, token)[0]["id"]
    writes = [
        lambda: add(shop, token, variant),
        lambda: shop.storefront.patch(f"carts/{token}/lines/{line_id}.json", {"quantity": 5}),
        lambda: shop.storefront.delete(f"carts/{token}/lines/{line_id}.json"),
        lambda: shop.storefront.put(f"carts/{token}/customer.json", {"customer_id": None}),
    ]
    for write in writes:
        with shop.scope():
            Cart.objects.update(expires_at=timezone.now() + timedelta(days=1))

        assert write().status_code == 200

        with shop.scope():
            assert Cart.objects.get().expires_at > timezone.now() + timedelta(days=29)


def test_quantity_zero_and_delete_remove_the_line(shop):
    first, second = factories.make_variant(shop), factories.make_variant(shop)
    token = cart_with(shop, (first, 1), (second, 1))
    one, two = lines_of(shop, token)

    patched = shop.storefront.patch(f"carts/{token}/lines/{one['id']}.json", {"quantity": 0})
    deleted = shop.storefront.delete(f"carts/{token}/lines/{two['id']}.json")

    assert [line["id"] for line in patched.json()["cart"]["line_items"]] == [two["id"]]
    assert (deleted.status_code, deleted.json()["cart"]["line_items"]) == (200, [])


def test_lines_of_another_cart_are_not_found(shop):
    variant = factories.make_variant(shop)
    token, other = cart_with(shop, (variant, 1)), cart_with(shop, (variant, 1))
    (line,) = lines_of(shop, other)

    patched = shop.storefront.patch(f"carts/{token}/lines/{line['id']}.json", {"quantity": 9})
    deleted = shop.storefront.delete(f"carts/{token}/lines/{line['id']}.json")

    assert (patched.status_code, deleted.status_code) == (404, 404)
    assert lines_of(shop, other) == [line]


@pytest.mark.parametrize("quantity", [0, -1, 1.5, True, "x", None, 10_000, 2**63])
def test_bad_quantity_is_refused(shop, quantity):
    variant = factories.make_variant(shop)
    token = cart_with(shop)

    answer = add(shop, token, variant, quantity)

    assert answer.status_code == 422
    assert lines_of(shop, token) == []


def test_quantity_limit_holds_for_the_sum(shop):
    variant = factories.make_variant(shop)
    token = cart_with(shop, (variant, 9_000))

    answer = add(shop, token, variant, 1_000)

    assert (answer.status_code, answer.json()["code"]) == (422, "cart_limit_exceeded")
    assert lines_of(shop, token)[0]["quantity"] == 9_000


def test_cart_takes_500_lines(shop):
    variant = factories.make_variant(shop)
    token = cart_with(shop)
    with shop.scope():
        cart = Cart.objects.get(token=token)
        CartLineItem.objects.bulk_create(
            CartLineItem(
                cart=cart,
                variant=variant,
                quantity=1,
                custom_attributes={"n": n},
                custom_attributes_hash=f"{n:064}",
                unit_price_cents=1,
                tax_rate_bp=0,
                price_includes_tax=True,
            )
            for n in range(499)
        )

    last = add(shop, token, variant)
    beyond = add(shop, token, variant, custom_attributes={"one": "more"})

    assert (last.status_code, last.json()["cart"]["totals"]["line_count"]) == (200, 500)
    assert (beyond.status_code, beyond.json()["code"]) == (422, "cart_limit_exceeded")
    assert len(lines_of(shop, token)) == 500


def test_variant_without_pricing_is_refused(shop):
    variant = factories.make_variant(shop, price_cents=None)
    token = cart_with(shop)

    answer = add(shop, token, variant)

    assert (answer.status_code, answer.json()["code"]) == (409, "pricing_not_found")
    assert lines_of(shop, token) == []


def test_variant_priced_in_another_currency_is_refused(shop):
    variant = factories.make_variant(shop, price_cents=None)
    factories.set_price(shop, variant, 1000, currency="CZK")
    token = cart_with(shop)

    answer = add(shop, token, variant)

    assert (answer.status_code, answer.json()["code"]) == (409, "currency_mismatch")
    assert lines_of(shop, token) == []


def test_variants_not_on_sale_are_not_found(shop, other_shop):
    token = cart_with(shop)
    gone = [
        factories.make_variant(shop, archived_at=timezone.now()),
        factories.make_variant(shop, product=factories.make_product(shop, status="draft")),
        factories.make_variant(shop, product=factories.make_product(shop, status="archived")),
        factories.make_variant(other_shop),
    ]

    assert [add(shop, token, variant).status_code for variant in gone] == [404] * 4
    assert lines_of(shop, token) == []


@pytest.mark.parametrize("lines", [1, 50])
def test_adding_a_line_takes_a_fixed_number_of_statements(shop, django_assert_num_queries, lines):
    variants = [factories.make_variant(shop, stock=None) for _ in range(lines)]
    cart = factories.make_cart(shop, [(variant, 1) for variant in variants])
    shop.storefront.get(f"carts/{cart.token}.json")

    # Two messages: the lock and the offer, the upsert and the cart. The test's transaction adds four statements.
    with django_assert_num_queries(6):
        answer = add(shop, cart.token, variants[0])

    assert answer.status_code == 200
