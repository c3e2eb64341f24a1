"""Ledger entries as created by completed orders."""

from typing import Any

from commerce.orders.models import Order
from discounts.models import Discount, DiscountRedemption
from tests.rows import make_row
from tests.shops import Shop


def make_redemption(shop: Shop, **fields: Any) -> DiscountRedemption:
    """Create a use of a discount by an order; both are new unless given."""
    with shop.scope():
        for name, model in {"discount": Discount, "order": Order}.items():
            if not {name, f"{name}_id"} & fields.keys():
                fields[f"{name}_id"] = make_row(model).pk
        return make_row(DiscountRedemption, **{"currency": "EUR"} | fields)
