from rest_framework import serializers

from commerce.formats import as_text, text_id, timestamp
from commerce.orders.models import Order, OrderLineItem
from commerce.orders.rules import MAX_CARRIER, MAX_REASON, MAX_TRACKING_NUMBER
from commerce.orders.shapes import shape_line, shape_totals
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class LineOutput(Output):
    """What a line is from the cart to the order."""

    id = fields.IdField()
    variant_id = fields.IdField()
    product_id = fields.IdField()
    sku = serializers.CharField()
    title = serializers.CharField()
    quantity = serializers.IntegerField()
    custom_attributes = serializers.DictField()
    tax_rate_bp = serializers.IntegerField()
    unit_price_with_tax_cents = fields.CentsField()
    unit_price_without_tax_cents = fields.CentsField()
    line_total_with_tax_cents = fields.CentsField()
    line_total_without_tax_cents = fields.CentsField()
    line_tax_cents = fields.CentsField()


class FrozenLineOutput(LineOutput):
    weight_grams = serializers.IntegerField(help_text="Of one unit.")
    discount_cents = fields.CentsField(help_text="The line's share of the discounts.")


class TotalsOutput(Output):
    currency = serializers.CharField()
    subtotal_with_tax_cents = fields.CentsField()
    subtotal_without_tax_cents = fields.CentsField()
    discount_cents = fields.CentsField()
    shipping_cents = fields.CentsField()
    shipping_discount_cents = fields.CentsField()
    shipping_tax_cents = fields.CentsField()
    cod_fee_cents = fields.CentsField()
    cod_fee_tax_cents = fields.CentsField()
    tax_cents = fields.CentsField()
    total_cents = fields.CentsField()
    gift_card_cents = fields.CentsField()
    amount_due_cents = fields.CentsField()
    line_count = serializers.IntegerField()
    item_count = serializers.IntegerField()


class DiscountCodeOutput(Output):
    """A code as it was entered: a discount's, or that of a gift card, which pays."""

    code = serializers.CharField(help_text="In orders, only the end of a gift card's code.")
    discount_id = fields.IdField(allow_null=True)
    voucher_id = fields.IdField(allow_null=True)
    type = serializers.CharField()
    amount_cents = fields.CentsField()


class AutomaticDiscountOutput(Output):
    discount_id = fields.IdField()
    title = serializers.CharField()
    type = serializers.CharField()
    amount_cents = fields.CentsField()


class VatOutput(Output):
    country_code = serializers.CharField(help_text="GR for Greece, XI for Northern Ireland.")
    number = serializers.CharField(help_text="Without the country's prefix.")
    status = serializers.ChoiceField(["valid", "invalid", "unavailable"])
    reverse_charge = serializers.BooleanField(help_text="The buyer owes the tax, and none is charged.")
    name = serializers.CharField(allow_null=True)
    validated_at = TimestampField(allow_null=True)


class OrderFilter(Input):
    status = serializers.ChoiceField(Order.Status.choices, required=False)
    payment_status = serializers.ChoiceField(Order.PaymentStatus.choices, required=False)
    fulfillment_status = serializers.ChoiceField(Order.FulfillmentStatus.choices, required=False)
    customer_id = fields.IdField(required=False)
    email = fields.TextField(required=False, max_length=254)
    number = fields.IdField(required=False)
    market_id = fields.IdField(required=False)
    checkout_id = fields.IdField(required=False)
    placed_at_min = fields.DateTimeField(required=False)
    placed_at_max = fields.DateTimeField(required=False)


class CancelInput(Input):
    reason = fields.OptionalTextField(max_length=MAX_REASON)


class FulfillInput(Input):
    carrier = fields.OptionalTextField(max_length=MAX_CARRIER)
    tracking_number = fields.OptionalTextField(max_length=MAX_TRACKING_NUMBER)
    tracking_url = fields.HttpUrlField(required=False, allow_null=True)


class OrderOutput(Output):
    id = fields.IdField()
    number = serializers.CharField()
    token = serializers.CharField()
    status = serializers.ChoiceField(Order.Status.choices)
    payment_status = serializers.ChoiceField(Order.PaymentStatus.choices)
    fulfillment_status = serializers.ChoiceField(Order.FulfillmentStatus.choices)
    market_id = fields.IdField()
    customer_id = fields.IdField()
    checkout_id = fields.IdField()
    email = serializers.CharField()
    currency = serializers.CharField()
    locale = serializers.CharField()
    prices_include_tax = serializers.BooleanField()
    line_items = FrozenLineOutput(many=True)
    shipping_address = serializers.DictField()
    billing_address = serializers.DictField(allow_null=True)
    shipping_method = serializers.DictField(allow_null=True)
    pickup_point = serializers.DictField(allow_null=True)
    payment_method = serializers.CharField()
    discount_codes = DiscountCodeOutput(many=True)
    automatic_discounts = AutomaticDiscountOutput(many=True)
    vat = VatOutput(allow_null=True)
    totals = TotalsOutput()
    customer_note = serializers.CharField()
    utm = serializers.DictField()
    referrer = serializers.CharField()
    carrier = serializers.CharField(allow_null=True)
    tracking_number = serializers.CharField(allow_null=True)
    tracking_url = serializers.CharField(allow_null=True)
    placed_at = TimestampField()
    paid_at = TimestampField(allow_null=True)
    refunded_at = TimestampField(allow_null=True)
    fulfilled_at = TimestampField(allow_null=True)
    cancelled_at = TimestampField(allow_null=True)
    updated_at = TimestampField()


class AdminOrderOutput(OrderOutput):
    cancel_reason = serializers.CharField(allow_null=True, help_text="Not shown to the customer.")


# Their ids and cents are integers in the database, and text for clients.
_SNAPSHOTS = ("shipping_method", "pickup_point", "discount_codes", "automatic_discounts", "vat")
_AS_STORED = (
    "token",
    "status",
    "payment_status",
    "fulfillment_status",
    "email",
    "currency",
    "locale",
    "prices_include_tax",
    "shipping_address",
    "billing_address",
    "payment_method",
    "customer_note",
    "utm",
    "referrer",
    "carrier",
    "tracking_number",
    "tracking_url",
)


def shape_order(order: Order) -> dict[str, object]:
    """Build an order's answer as `OrderOutput` describes it; its lines are prefetched."""
    # They are prefetched in any order.
    lines: list[OrderLineItem] = sorted(order.line_items.all(), key=lambda line: line.position)
    return {
        "id": str(order.pk),
        "number": str(order.number),
        "market_id": str(order.market_id),
        "customer_id": text_id(order.customer_id),
        "checkout_id": str(order.checkout_id),
        "line_items": [shape_line(line) for line in lines],
        "totals": shape_totals(order, lines=lines),
        **{name: getattr(order, name) for name in _AS_STORED},
        **{name: as_text(getattr(order, name)) for name in _SNAPSHOTS},
        "placed_at": timestamp(order.placed_at),
        "paid_at": timestamp(order.paid_at),
        "refunded_at": timestamp(order.refunded_at),
        "fulfilled_at": timestamp(order.fulfilled_at),
        "cancelled_at": timestamp(order.cancelled_at),
        "updated_at": timestamp(order.updated_at),
    }


def shape_admin_order(order: Order) -> dict[str, object]:
    """Build the answer that `AdminOrderOutput` describes."""
    return shape_order(order) | {"cancel_reason": order.cancel_reason}
