"""Constraints of the tables, without the checks of the operations."""

import pytest
from django.db import IntegrityError

from tests.factories import make_method, make_rate, make_zone


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"price_cents": -1}, "shipping_rates_price"),
        ({"price_cents": 1, "is_automatic": True}, "shipping_rates_automatic_free"),
        ({"min_weight_grams": 2, "max_weight_grams": 1}, "shipping_rates_weight_grams"),
        ({"min_subtotal_cents": 2, "max_subtotal_cents": 1}, "shipping_rates_subtotal_cents"),
        ({"min_quantity": 2, "max_quantity": 1}, "shipping_rates_quantity"),
    ],
)
def test_rates_table_refuses(shop, fields, constraint):
    with pytest.raises(IntegrityError, match=constraint):
        make_rate(shop, **fields)


@pytest.mark.parametrize(
    ("mode", "fields", "constraint"),
    [
        ("flat", {}, "shipping_rates_one_flat"),
        ("free", {"is_automatic": True}, "shipping_rates_one_automatic"),
    ],
)
def test_rates_table_refuses_a_second(shop, mode, fields, constraint):
    method = make_method(shop, rate_mode=mode)
    make_rate(shop, method=method, price_cents=0, **fields)

    with pytest.raises(IntegrityError, match=constraint):
        make_rate(shop, method=method, price_cents=0, **fields)


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"cod_fee_cents": -1}, "shipping_methods_cod_fee"),
        ({"estimated_days_min": 2, "estimated_days_max": 1}, "shipping_methods_days"),
        ({"rate_mode": "carrier_api"}, "shipping_methods_rate_mode"),
    ],
)
def test_methods_table_refuses(shop, fields, constraint):
    with pytest.raises(IntegrityError, match=constraint):
        make_method(shop, **fields)


def test_methods_table_refuses_the_zone_of_another_account(shop, other_shop):
    foreign = make_zone(other_shop)

    with pytest.raises(IntegrityError, match="shipping_methods_zone_id_fk"):
        make_method(shop, zone=foreign)
