"""Limits per shopper: 4 KiB of attributes per line, 4 KiB of campaign data, 256 KiB of attributes per cart."""

import orjson
import pytest
from django.db import IntegrityError, connection, transaction

from carts.models import Cart, CartLineItem
from commerce.rest.problems import as_refusal
from tests import factories
from tests.problems import field_errors, problem
from tests.storefront import cart_with
from tests.threads import run_threads

KIB = 1024


def of_size(size, name="a"):
    """Return an object with this size in bytes as compact JSON."""
    return {name: "x" * (size - len(orjson.dumps({name: ""})))}


def add(shop, token, variant, attributes):
    body = {"variant_id": variant.pk, "quantity": 1, "custom_attributes": attributes}
    return shop.storefront.post(f"carts/{token}/lines.json", body)


def stored(shop):
    """Count carts and lines."""
    with shop.scope():
        return Cart.objects.count(), CartLineItem.objects.count()


@pytest.fixture
def variant(shop):
    return factories.make_variant(shop, price_cents=100)


@pytest.mark.parametrize(
    "attributes",
    [
        of_size(4 * KIB + 1),
        {"a": "é" * (2 * KIB)},
        {"é" * (2 * KIB): 1},
        # In NFC this character takes three times the bytes.
        {"a": "\U0001d160" * 512},
        # PostgreSQL writes each number with its 300 zeros.
        {"a": [1e-300] * 14},
        {"a": list(range(250))},
    ],
    ids=["ascii", "two bytes each", "name", "composed", "zeros", "values"],
)
def test_attributes_past_4_kib_are_too_large(shop, variant, attributes):
    token = cart_with(shop)

    refused = add(shop, token, variant, attributes)

    assert field_errors(refused) == {("custom_attributes", "too_large")}
    assert stored(shop) == (1, 0)


def test_attributes_of_4_kib_are_kept(shop, variant):
    attributes = of_size(4 * KIB)

    cart = add(shop, cart_with(shop), variant, attributes).json()["cart"]

    assert cart["line_items"][0]["custom_attributes"] == attributes


def test_campaign_data_past_4_kib_is_too_large(shop):
    def create(size):
        body = {"market_id": shop.market.pk, "utm": of_size(size)}
        return shop.storefront.post("carts.json", body)

    assert field_errors(create(4 * KIB + 1)) == {("utm", "too_large")}
    assert stored(shop) == (0, 0)
    assert create(4 * KIB).status_code == 201


def fill(shop, token, variant, lines, *, prefix=""):
    for number in range(lines):
        assert add(shop, token, variant, of_size(4000, f"{prefix}{number}")).status_code == 200


def test_attributes_of_a_cart_past_256_kib_are_too_large(shop, variant):
    token = cart_with(shop)
    fill(shop, token, variant, 65)

    refused = add(shop, token, variant, of_size(4000, "last"))

    assert (problem(refused), field_errors(refused)) == (
        (422, "too_large"),
        {("custom_attributes", "too_large")},
    )
    assert stored(shop) == (1, 65)
    # More units of an existing line take no more space.
    assert add(shop, token, variant, of_size(4000, "0")).status_code == 200
    assert add(shop, token, variant, {}).status_code == 200


def test_merge_past_256_kib_is_refused_as_a_whole(shop, variant):
    target, source = cart_with(shop), cart_with(shop)
    fill(shop, target, variant, 40, prefix="t")
    fill(shop, source, variant, 40, prefix="s")

    refused = shop.storefront.post(f"carts/{target}/merge.json", {"source_cart_token": source})

    assert field_errors(refused) == {("source_cart_token", "too_large")}
    carts = [shop.storefront.get(f"carts/{token}.json").json()["cart"] for token in (target, source)]
    assert [(cart["status"], len(cart["line_items"])) for cart in carts] == [("active", 40)] * 2


@pytest.mark.django_db(transaction=True)
def test_lines_added_at_once_stay_within_256_kib(shop, variant):
    token = cart_with(shop)
    fill(shop, token, variant, 62)

    answers = run_threads(8, lambda index: add(shop, token, variant, of_size(4000, f"at once {index}")))

    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [422] * 5
    assert stored(shop) == (1, 65)


@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        ("UPDATE carts SET utm = %s WHERE account_id = %s", "carts_utm_size"),
        ("UPDATE carts SET referrer = %s WHERE account_id = %s", "carts_referrer_size"),
        (
            "UPDATE cart_line_items SET custom_attributes = %s WHERE account_id = %s",
            "cart_line_items_attributes_size",
        ),
    ],
)
def test_database_holds_the_bounds_too(shop, variant, statement, constraint):
    cart_with(shop, (variant, 1))
    large = orjson.dumps({"a": "x" * 9000}).decode()

    with (
        pytest.raises(IntegrityError) as refused,
        shop.scope(),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, [large, shop.id])

    assert refused.value.__cause__.diag.constraint_name == constraint
    refusal = as_refusal(refused.value)
    assert (refusal.status, refusal.code) == (422, "too_large")
