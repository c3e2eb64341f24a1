"""POST carts.json, GET carts/{token}.json, PUT carts/{token}/customer.json."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from carts.models import Cart
from tests import factories
from tests.storefront import cart_with

EMPTY_TOTALS = {
    "currency": "EUR",
    "subtotal_with_tax_cents": "0",
    "total_cents": "0",
    "line_count": 0,
    "item_count": 0,
}


def expire(shop, token):
    with shop.scope():
        Cart.objects.filter(token=token).update(expires_at=timezone.now() - timedelta(hours=1))


def test_cart_is_created_empty_with_exactly_five_totals(shop):
    body = {
        "market_id": shop.market.pk,
        "utm": {"source": "ads", "campaign": "may"},
        "referrer": "https://x.example/",
    }

    answer = shop.storefront.post("carts.json", body)

    assert answer.status_code == 201
    cart = answer.json()["cart"]
    assert cart["totals"] == EMPTY_TOTALS
    assert cart["line_items"] == []
    assert (cart["status"], cart["currency"], cart["customer_id"]) == ("active", "EUR", None)
    assert cart["market_id"] == str(shop.market.pk)
    lifetime = parse_datetime(cart["expires_at"]) - timezone.now()
    assert timedelta(days=29, hours=23) < lifetime <= timedelta(days=30)
    with shop.scope():
        stored = Cart.objects.get(token=cart["token"])
    assert (stored.utm, stored.referrer) == ({"source": "ads", "campaign": "may"}, "https://x.example/")


def test_cart_is_created_for_a_customer(shop):
    customer = factories.make_customer(shop)

    answer = shop.storefront.post("carts.json", {"market_id": shop.market.pk, "customer_id": customer.pk})

    assert answer.json()["cart"]["customer_id"] == str(customer.pk)


@pytest.mark.parametrize("field", ["market_id", "customer_id"])
def test_cart_of_another_shops_things_is_refused(shop, other_shop, field):
    foreign = {"market_id": other_shop.market.pk, "customer_id": factories.make_customer(other_shop).pk}

    answer = shop.storefront.post("carts.json", {"market_id": shop.market.pk} | {field: foreign[field]})

    assert answer.status_code == 422
    assert [(error["field"], error["code"]) for error in answer.json()["errors"]] == [(field, "not_found")]
    with shop.scope():
        assert Cart.objects.count() == 0


def test_cart_of_an_inactive_market_is_refused(shop):
    shop.admin.delete(f"markets/{shop.market.pk}.json")

    answer = shop.storefront.post("carts.json", {"market_id": shop.market.pk})

    assert answer.status_code == 422


def test_unknown_cart_and_another_shops_cart_are_not_found(shop, other_shop):
    foreign = cart_with(other_shop)

    assert shop.storefront.get("carts/nothing.json").status_code == 404
    assert shop.storefront.get(f"carts/{foreign}.json").status_code == 404


def test_expired_cart_answers_reads_and_refuses_writes(shop):
    variant = factories.make_variant(shop)
    token = cart_with(shop)
    expire(shop, token)

    read = shop.storefront.get(f"carts/{token}.json")
    written = shop.storefront.post(f"carts/{token}/lines.json", {"variant_id": variant.pk, "quantity": 1})

    assert (read.status_code, read.json()["cart"]["status"]) == (200, "expired")
    assert (written.status_code, written.json()["code"]) == (409, "cart_not_active")
    assert written.json()["cart_status"] == "expired"
    assert shop.storefront.get(f"carts/{token}.json").json() == read.json()


def test_customer_is_set_and_taken_away(shop):
    customer = factories.make_customer(shop)
    token = cart_with(shop)

    tied = shop.storefront.put(f"carts/{token}/customer.json", {"customer_id": customer.pk})
    freed = shop.storefront.put(f"carts/{token}/customer.json", {"customer_id": None})

    assert tied.json()["cart"]["customer_id"] == str(customer.pk)
    assert (freed.status_code, freed.json()["cart"]["customer_id"]) == (200, None)


def test_unknown_customer_is_refused(shop, other_shop):
    token = cart_with(shop)

    answer = shop.storefront.put(
        f"carts/{token}/customer.json", {"customer_id": factories.make_customer(other_shop).pk}
    )

    assert answer.status_code == 422
    assert shop.storefront.get(f"carts/{token}.json").json()["cart"]["customer_id"] is None


@pytest.mark.parametrize("lines", [1, 50])
def test_reading_a_cart_takes_two_statements(shop, django_assert_num_queries, lines):
    variants = [factories.make_variant(shop, stock=None) for _ in range(lines)]
    cart = factories.make_cart(shop, [(variant, 1) for variant in variants])
    shop.storefront.get(f"carts/{cart.token}.json")

    # SET LOCAL, and the cart with its lines; in the test's transaction also a savepoint and its release,
    # and the setting is cleared.
    with django_assert_num_queries(5):
        answer = shop.storefront.get(f"carts/{cart.token}.json")

    assert len(answer.json()["cart"]["line_items"]) == lines
