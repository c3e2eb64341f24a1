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
    sku = serializers.CharField(help_text="The variant's SKU.")
    title = serializers.CharField(help_text="The titles of the product and the variant.")
    quantity = serializers.IntegerField(help_text="Number of units.")
    custom_attributes = serializers.DictField(help_text="What the shopper added to this line.")
    tax_rate_bp = serializers.IntegerField(help_text="The tax rate that applies to it.")
    unit_price_with_tax_cents = fields.CentsField(help_text="One unit with tax.")
    unit_price_without_tax_cents = fields.CentsField(help_text="One unit without tax.")
    line_total_with_tax_cents = fields.CentsField(help_text="All units with tax, before discounts.")
    line_total_without_tax_cents = fields.CentsField(help_text="All units without tax, before discounts.")
    line_tax_cents = fields.CentsField(help_text="The tax of all units.")


class FrozenLineOutput(LineOutput):
    weight_grams = serializers.IntegerField(help_text="Of one unit.")
    discount_cents = fields.CentsField(help_text="The line's share of the discounts.")


class TotalsOutput(Output):
    currency = serializers.CharField()
    subtotal_with_tax_cents = fields.CentsField(help_text="All lines with tax, before discounts.")
    subtotal_without_tax_cents = fields.CentsField(help_text="All lines without tax, before discounts.")
    discount_cents = fields.CentsField(help_text="What discounts take off the lines.")
    shipping_cents = fields.CentsField(help_text="What is charged for shipping, after its discounts.")
    shipping_discount_cents = fields.CentsField(help_text="What discounts take off shipping.")
    shipping_tax_cents = fields.CentsField(help_text="The tax of shipping.")
    cod_fee_cents = fields.CentsField(help_text="The fee for cash on delivery.")
    cod_fee_tax_cents = fields.CentsField(help_text="The tax of that fee.")
    tax_cents = fields.CentsField(help_text="All tax: of lines after discounts, of shipping, and of the fee.")
    total_cents = fields.CentsField(help_text="What the order costs, tax included.")
    gift_card_cents = fields.CentsField(help_text="The part that gift cards pay.")
    amount_due_cents = fields.CentsField(help_text="What is left to be paid.")
    line_count = serializers.IntegerField(help_text="Number of lines.")
    item_count = serializers.IntegerField(help_text="Number of units of all lines.")


class DiscountCodeOutput(Output):
    """A code as it was entered: a discount's, or that of a gift card, which pays."""

    code = serializers.CharField(help_text="In orders, only the end of a gift card's code.")
    discount_id = fields.IdField(allow_null=True, help_text="The discount; null for a gift card.")
    voucher_id = fields.IdField(allow_null=True, help_text="The gift card; null for a discount.")
    type = serializers.CharField(help_text="The discount's type, or `gift_card`.")
    amount_cents = fields.CentsField(help_text="What it takes off, or pays.")


class AutomaticDiscountOutput(Output):
    discount_id = fields.IdField()
    title = serializers.CharField(help_text="What customers see.")
    type = serializers.CharField(help_text="The discount's type.")
    amount_cents = fields.CentsField(help_text="What it takes off.")


class VatOutput(Output):
    country_code = serializers.CharField(help_text="GR for Greece, XI for Northern Ireland.")
    number = serializers.CharField(help_text="Without the country's prefix.")
    status = serializers.ChoiceField(
        ["valid", "invalid", "unavailable"],
        help_text="What VIES said: `valid`, `invalid`, or `unavailable` if it didn't answer.",
    )
    reverse_charge = serializers.BooleanField(help_text="The buyer owes the tax, and none is charged.")
    name = serializers.CharField(allow_null=True, help_text="The company's name, as VIES knows it.")
    validated_at = TimestampField(allow_null=True, help_text="When VIES was asked.")


class AddressOutput(Output):
    """Without the fields that weren't given."""

    first_name = serializers.CharField(required=False, help_text="Given name.")
    last_name = serializers.CharField(required=False, help_text="Family name.")
    company = serializers.CharField(required=False, help_text="Company.")
    address1 = serializers.CharField(required=False, help_text="Street and number. Required.")
    address2 = serializers.CharField(
        required=False, help_text="Further part of the address, such as a floor."
    )
    city = serializers.CharField(required=False, help_text="City. Required.")
    zip = serializers.CharField(required=False, help_text="Postcode.")
    province_code = serializers.CharField(required=False, help_text="Province or state, such as `CA`.")
    country_code = serializers.CharField(required=False, help_text="The country. Required.")
    phone = serializers.CharField(required=False, help_text="Phone number, for the carrier.")


class ShippingSnapshotOutput(Output):
    """A shipping method and its rate, as they were when chosen."""

    id = fields.IdField(help_text="Id of the method.")
    handle = serializers.CharField(help_text="The method's handle.")
    name = serializers.CharField(help_text="The method's name.")
    carrier = serializers.CharField(help_text="The carrier's code, such as `dhl`.")
    service_code = serializers.CharField(help_text="The carrier's service, such as `parcel`.")
    rate_mode = serializers.CharField(help_text="`flat`, `tiered` or `free`.")
    requires_pickup_point = serializers.BooleanField(help_text="Whether it goes to a pickup point.")
    is_cod_compatible = serializers.BooleanField(help_text="Whether it takes cash on delivery.")
    estimated_days_min = serializers.IntegerField(allow_null=True, help_text="The fewest days that it takes.")
    estimated_days_max = serializers.IntegerField(allow_null=True, help_text="The most days that it takes.")
    cod_fee_cents = fields.CentsField(help_text="The fee for cash on delivery.")
    rate_id = fields.IdField()
    price_cents = fields.CentsField(help_text="What shipping costs, before discounts.")
    currency = serializers.CharField(help_text="The currency of both amounts.")
    is_free = serializers.BooleanField(help_text="Whether the price is 0.")
    display_name = serializers.CharField(help_text="The rate's name, or the method's if the rate has none.")


class PickupPointSnapshotOutput(Output):
    """A pickup point, as it was when chosen."""

    id = fields.IdField()
    carrier = serializers.CharField(help_text="The carrier's code.")
    external_id = serializers.CharField(help_text="The carrier's id of the point.")
    kind = serializers.CharField(help_text="`point` (a shop) or `locker`.")
    name = serializers.CharField()
    address1 = serializers.CharField(help_text="Street and number.")
    city = serializers.CharField(help_text="City.")
    zip = serializers.CharField(help_text="Postcode.")
    country_code = serializers.CharField()
    is_cod_supported = serializers.BooleanField(help_text="Whether it takes cash on delivery.")


class OrderFilter(Input):
    described_by = "OrderOutput"

    status = serializers.ChoiceField(Order.Status.choices, required=False)
    payment_status = serializers.ChoiceField(Order.PaymentStatus.choices, required=False)
    fulfillment_status = serializers.ChoiceField(Order.FulfillmentStatus.choices, required=False)
    customer_id = fields.IdField(required=False, help_text="Only orders of this customer.")
    email = fields.TextField(
        required=False, max_length=254, help_text="Only orders with this address; case is ignored."
    )
    number = fields.IdField(required=False, help_text="Only the order with this number.")
    market_id = fields.IdField(required=False)
    checkout_id = fields.IdField(required=False)
    placed_at_min = fields.DateTimeField(
        required=False, help_text="Only orders placed at or after this time."
    )
    placed_at_max = fields.DateTimeField(
        required=False, help_text="Only orders placed at or before this time."
    )


class CancelInput(Input):
    reason = fields.OptionalTextField(
        max_length=MAX_REASON, help_text="Why, for the staff. Not shown to the customer."
    )


class FulfillInput(Input):
    described_by = "OrderOutput"

    carrier = fields.OptionalTextField(max_length=MAX_CARRIER)
    tracking_number = fields.OptionalTextField(max_length=MAX_TRACKING_NUMBER)
    tracking_url = fields.HttpUrlField(required=False, allow_null=True)


class OrderOutput(Output):
    id = fields.IdField()
    number = serializers.CharField(
        help_text="The number that people use: unique in the shop, rising, with gaps."
    )
    token = serializers.CharField(help_text="The secret that gives the customer access to the order.")
    status = serializers.ChoiceField(
        Order.Status.choices, help_text="`open`, `closed` once it is paid and shipped, or `cancelled`."
    )
    payment_status = serializers.ChoiceField(
        Order.PaymentStatus.choices, help_text="`pending`, `paid` or `refunded`."
    )
    fulfillment_status = serializers.ChoiceField(
        Order.FulfillmentStatus.choices, help_text="`unfulfilled` or `fulfilled`."
    )
    market_id = fields.IdField()
    customer_id = fields.IdField()
    checkout_id = fields.IdField(help_text="The checkout that became the order.")
    email = serializers.CharField(help_text="The customer's address when the order was placed.")
    currency = serializers.CharField()
    locale = serializers.CharField(help_text="The language of emails about it.")
    prices_include_tax = serializers.BooleanField(help_text="Whether the market's prices included tax.")
    line_items = FrozenLineOutput(many=True, help_text="What was bought, with frozen prices.")
    shipping_address = AddressOutput(help_text="Where the goods go.")
    billing_address = AddressOutput(
        allow_null=True, help_text="Who gets the invoice; null if it is the shipping address."
    )
    shipping_method = ShippingSnapshotOutput(
        allow_null=True, help_text="The method and rate as they were when chosen."
    )
    pickup_point = PickupPointSnapshotOutput(
        allow_null=True, help_text="The pickup point as it was when chosen; null without one."
    )
    payment_method = serializers.CharField(help_text="How it was paid, such as `cod`.")
    discount_codes = DiscountCodeOutput(many=True, help_text="The codes that were entered.")
    automatic_discounts = AutomaticDiscountOutput(
        many=True, help_text="Discounts that applied without a code."
    )
    vat = VatOutput(allow_null=True, help_text="The buyer's VAT number; null if none was given.")
    totals = TotalsOutput(help_text="What it cost.")
    customer_note = serializers.CharField(help_text="The customer's note to the shop.")
    utm = serializers.DictField(help_text="Where the shopper came from, as the cart was told.")
    referrer = serializers.CharField(help_text="The page that led to the shop.")
    carrier = serializers.CharField(allow_null=True, help_text="Who carries the parcel.")
    tracking_number = serializers.CharField(allow_null=True, help_text="The carrier's number of the parcel.")
    tracking_url = serializers.CharField(allow_null=True, help_text="Where the parcel can be followed.")
    placed_at = TimestampField(help_text="When the checkout was completed.")
    paid_at = TimestampField(allow_null=True, help_text="When it was paid; null while it isn't.")
    refunded_at = TimestampField(allow_null=True, help_text="When it was refunded.")
    fulfilled_at = TimestampField(allow_null=True, help_text="When it was shipped.")
    cancelled_at = TimestampField(allow_null=True, help_text="When it was cancelled.")
    updated_at = TimestampField()


class AdminOrderOutput(OrderOutput):
    cancel_reason = serializers.CharField(
        allow_null=True, help_text="Why it was cancelled. Not shown to the customer."
    )


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
