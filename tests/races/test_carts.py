"""Concurrent requests for one cart, with real threads."""

import pytest

from carts.models import Cart
from tests import factories
from tests.storefront import cart_with
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def test_adds_of_one_line_at_once_sum_up(shop):
    variant = factories.make_variant(shop)
    token = cart_with(shop)
    body = {"variant_id": variant.pk, "quantity": 2}

    answers = run_threads(20, lambda _: shop.storefront.post(f"carts/{token}/lines.json", body))

    assert {answer.status_code for answer in answers} == {200}
    (line,) = shop.storefront.get(f"carts/{token}.json").json()["cart"]["line_items"]
    assert line["quantity"] == 40


def test_two_carts_merged_into_each_other_at_once_keep_every_unit(shop):
    variant = factories.make_variant(shop)
    one, two = cart_with(shop, (variant, 1)), cart_with(shop, (variant, 2))
    pairs = [(one, two), (two, one)] * 5

    answers = run_threads(
        10,
        lambda index: shop.storefront.post(
            f"carts/{pairs[index][0]}/merge.json", {"source_cart_token": pairs[index][1]}
        ),
    )

    assert {answer.status_code for answer in answers} == {200, 409}
    with shop.scope():
        left = Cart.objects.get(status="active")
        assert [line.quantity for line in left.line_items.all()] == [3]
