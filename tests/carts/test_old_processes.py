"""Rows written during a deployment by processes of the previous release, which don't know the newest columns."""

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Market
from carts.models import Cart, CartLineItem
from tests import factories

# Inserts from before carts had a locale and tax mode.
_CREATE = """
    INSERT INTO carts (account_id, market_id, currency, status, customer_id, token, utm, referrer,
                       expires_at, created_at, updated_at)
    SELECT account_id, id, currency, 'active', NULL, %s, '{}'::jsonb, '', %s, %s, %s
      FROM markets WHERE account_id = %s AND id = %s AND status = 'active'
"""
_PUT_LINE = """
    INSERT INTO cart_line_items (account_id, cart_id, variant_id, quantity, custom_attributes,
                                 custom_attributes_hash, unit_price_cents, tax_rate_bp, created_at, updated_at)
    VALUES (%s, %s, %s, 1, '{}'::jsonb, 'x', 1000, 1900, %s, %s)
    ON CONFLICT (account_id, cart_id, variant_id, custom_attributes_hash) DO UPDATE
    SET quantity = cart_line_items.quantity + EXCLUDED.quantity, unit_price_cents = EXCLUDED.unit_price_cents,
        tax_rate_bp = EXCLUDED.tax_rate_bp, updated_at = EXCLUDED.updated_at
"""


@pytest.mark.parametrize("is_gross", [True, False])
def test_cart_of_an_old_process_is_as_its_market_says(shop, is_gross):
    variant = factories.make_variant(shop)
    now = timezone.now()
    with shop.scope():
        Market.objects.update(locale="de-AT", prices_include_tax=is_gross)

    with shop.scope(), connection.cursor() as cursor:
        cursor.execute(_CREATE, ["old", now, now, now, shop.id, shop.market.pk])
        cart = Cart.objects.get(token="old")
        for _ in range(2):
            cursor.execute(_PUT_LINE, [shop.id, cart.pk, variant.pk, now, now])
        line = CartLineItem.objects.get(cart=cart)

    assert (cart.locale, cart.prices_include_tax) == ("de-AT", is_gross)
    assert (line.price_includes_tax, line.quantity) == (is_gross, 2)
