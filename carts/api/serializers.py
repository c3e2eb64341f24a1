"""Requests and responses of carts."""

from typing import Any

from rest_framework import serializers

from carts.attributes import normalise_attributes
from carts.models import Cart
from carts.queries import LineRow, LoadedCart
from carts.totals import LinePrice, compute_cart_totals
from commerce.formats import text_id
from commerce.orders.api.serializers import LineOutput
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField

MAX_UTM_BYTES = 4 * 1024
MAX_ATTRIBUTES_BYTES = 4 * 1024


class CustomAttributesField(fields.ObjectField):
    """Custom attributes of a line, converted to the form in which they are stored."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_bytes=MAX_ATTRIBUTES_BYTES, max_nodes=200, **kwargs)

    def to_internal_value(self, data: object) -> dict[str, Any]:
        attributes = normalise_attributes(super().to_internal_value(data))
        # The size is checked again, because some characters take more bytes in composed form.
        if attributes:
            fields.apply_rule(self.rule, attributes)
        return attributes


class CartInput(Input):
    market_id = fields.IdField(help_text="The market, which decides currency, language and tax mode.")
    customer_id = fields.IdField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The customer; null for an anonymous shopper.",
    )
    utm = fields.ObjectField(
        required=False,
        default=dict,
        max_bytes=MAX_UTM_BYTES,
        max_nodes=50,
        help_text="Where the shopper came from, such as `source` and `campaign`. At most 4 KiB. It is kept with the order.",
    )
    referrer = fields.TextField(
        required=False,
        default="",
        allow_blank=True,
        max_length=2048,
        help_text="The page that led here. It is kept with the order.",
    )


class LineInput(Input):
    variant_id = fields.IdField(help_text="The variant to add.")
    quantity = fields.IntegerField(min_value=1, help_text="How many units to add.")
    custom_attributes = CustomAttributesField(
        required=False,
        default=dict,
        help_text="Anything that tells this line from others, such as an engraving. At most 4 KiB.",
    )


class QuantityInput(Input):
    # Without `min_value=1`, unlike LineInput, because 0 removes the line.
    quantity = fields.IntegerField(help_text="The new number of units; 0 removes the line.")


class CartCustomerInput(Input):
    customer_id = fields.IdField(allow_null=True, help_text="The customer; null makes the cart anonymous.")


class MergeInput(Input):
    source_cart_token = fields.TextField(
        max_length=64, help_text="The token of the cart whose lines are moved."
    )


class CartLineOutput(LineOutput):
    custom_attributes_hash = serializers.CharField(
        help_text="SHA-256 of the compact, key-sorted JSON in NFC."
    )


class CartTotalsOutput(Output):
    currency = serializers.CharField()
    subtotal_with_tax_cents = fields.CentsField(help_text="All lines with tax.")
    subtotal_without_tax_cents = fields.CentsField(
        required=False, help_text="All lines without tax. Missing for an empty cart."
    )
    tax_cents = fields.CentsField(
        required=False, help_text="The tax of all lines. Missing for an empty cart."
    )
    total_cents = fields.CentsField(
        help_text="What the lines cost: with tax, without shipping and discounts."
    )
    line_count = serializers.IntegerField(help_text="Number of lines.")
    item_count = serializers.IntegerField(help_text="Number of units of all lines.")


class CartOutput(Output):
    id = fields.IdField()
    token = serializers.CharField(help_text="The secret that gives access to the cart.")
    market_id = fields.IdField()
    customer_id = fields.IdField(allow_null=True, help_text="The customer; null for an anonymous shopper.")
    currency = serializers.CharField()
    locale = serializers.CharField(help_text="The market's locale at the time when the cart was created.")
    status = serializers.ChoiceField(
        Cart.Status.choices,
        help_text="`active`, `merged` into another cart, `converted` to an order, or `expired`.",
    )
    line_items = CartLineOutput(many=True, help_text="What is in the cart.")
    totals = CartTotalsOutput(help_text="Computed for each answer.")
    expires_at = TimestampField(help_text="When the cart expires unless it changes before.")
    created_at = TimestampField()
    updated_at = TimestampField()


def cart_answer(loaded: LoadedCart) -> dict[str, object]:
    """Return `{cart: ...}` in the shape of `CartOutput`. Plain dicts, because carts are read most often."""
    cart = loaded.cart
    totals = compute_cart_totals([price for _, price in loaded.lines])
    # The API specifies that an empty cart has neither of these.
    only_with_lines = {
        "subtotal_without_tax_cents": str(totals.subtotal_without_tax_cents),
        "tax_cents": str(totals.tax_cents),
    }
    return {
        "cart": {
            "id": str(cart.id),
            "token": cart.token,
            "market_id": str(cart.market_id),
            "customer_id": text_id(cart.customer_id),
            "currency": cart.currency,
            "locale": cart.locale,
            "status": cart.status,
            "line_items": [_line(line, price) for line, price in loaded.lines],
            "totals": {
                "currency": cart.currency,
                "subtotal_with_tax_cents": str(totals.subtotal_with_tax_cents),
                **(only_with_lines if loaded.lines else {}),
                "total_cents": str(totals.total_cents),
                "line_count": totals.line_count,
                "item_count": totals.item_count,
            },
            "expires_at": cart.expires_at,
            "created_at": cart.created_at,
            "updated_at": cart.updated_at,
        }
    }


def _line(line: LineRow, price: LinePrice) -> dict[str, object]:
    return {
        "id": str(line.id),
        "variant_id": str(line.variant_id),
        "product_id": str(line.product_id),
        "sku": line.sku,
        "title": line.title,
        "quantity": line.quantity,
        "custom_attributes": line.attributes,
        "custom_attributes_hash": line.custom_attributes_hash,
        "unit_price_with_tax_cents": str(price.unit_with_tax_cents),
        "unit_price_without_tax_cents": str(price.unit_without_tax_cents),
        "tax_rate_bp": price.tax_rate_bp,
        "line_total_with_tax_cents": str(price.with_tax_cents),
        "line_total_without_tax_cents": str(price.without_tax_cents),
        "line_tax_cents": str(price.tax_cents),
    }
