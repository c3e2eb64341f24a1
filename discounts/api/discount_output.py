from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Output, TimestampField
from discounts.mechanics.bulk_pricing import BULK_TIERS
from discounts.mechanics.buy_x_get_y import BOGO
from discounts.models import Discount, DiscountRedemption

from .configs import IdsOutput, TypeField, WithConfig, make_config_output


class DiscountOutput(WithConfig, Output):
    # The context must have `now`, on which the effective status depends.
    id = fields.IdField()
    type = TypeField(
        help_text="`discount_code` is entered; `automatic_discount` applies by itself; `buy_x_get_y`, `bulk_pricing` and `shipping_discount` do so unless they have a code; `gift_card` issues a voucher."
    )
    code = serializers.CharField(
        allow_null=True,
        help_text="What shoppers enter; case is ignored. Null for discounts that apply by themselves.",
    )
    title = serializers.CharField(help_text="What customers see.")
    value_mode = serializers.ChoiceField(
        Discount.ValueMode.choices,
        allow_null=True,
        help_text="`percentage`, `fixed_amount`, `set_price` (the order gets this price) or `free`.",
    )
    value_amount = serializers.IntegerField(
        allow_null=True, help_text="Basis points for `percentage`, otherwise cents."
    )
    currency = serializers.CharField(
        allow_null=True, help_text="The currency of its amounts. It applies to no other currency."
    )
    applies_to = serializers.ChoiceField(
        Discount.AppliesTo.choices,
        help_text="`order`, `line_items` (those of `product_ids` and `variant_ids`) or `shipping`.",
    )
    product_ids = IdsOutput(help_text="With `line_items`: the products.")
    variant_ids = IdsOutput(help_text="With `line_items`: the variants.")
    market_ids = IdsOutput(help_text="The markets in which it applies; empty means all.")
    stackable = serializers.BooleanField(help_text="Whether it applies together with other codes.")
    minimum_order_subtotal_cents = fields.CentsField(help_text="The lowest subtotal for which it applies.")
    customer_eligibility = serializers.ChoiceField(
        Discount.Eligibility.choices,
        help_text="Who may use it: `all`, those with one of `customer_tags` (`tagged`), of `segment_ids` (`segments`), of `customer_ids` (`specific`), or who haven't ordered yet (`first_order`).",
    )
    customer_tags = serializers.ListField(child=serializers.CharField(), help_text="With `tagged`: the tags.")
    segment_ids = IdsOutput(help_text="With `segments`: the segments.")
    customer_ids = IdsOutput(help_text="With `specific`: the customers.")
    first_order_only = serializers.BooleanField(help_text="Whether it is only for a customer's first order.")
    usage_limit_total = serializers.IntegerField(
        allow_null=True, help_text="How many orders may use it; null for any number."
    )
    usage_limit_per_customer = serializers.IntegerField(
        allow_null=True, help_text="How many orders of one customer may use it; null for any number."
    )
    usage_count = serializers.IntegerField(help_text="Uses redeemed and not returned, or held by checkouts.")
    starts_at = TimestampField(allow_null=True, help_text="When it begins; null for at once.")
    ends_at = TimestampField(allow_null=True, help_text="When it ends; null for never.")
    bogo_config = make_config_output(BOGO)(
        allow_null=True, help_text="For `buy_x_get_y`: what must be bought, and what is given."
    )
    bulk_tiers = make_config_output(BULK_TIERS)(
        allow_null=True, help_text="For `bulk_pricing`: the prices by quantity."
    )
    voucher_id = fields.IdField(
        allow_null=True, help_text="The gift card issued for a discount of type `gift_card`."
    )
    status = serializers.ChoiceField(Discount.Status.choices, help_text="`active`, `disabled` or `archived`.")
    effective_status = serializers.SerializerMethodField(
        help_text="What follows from status, time and uses: `scheduled`, `active`, `expired`, `exhausted`, `disabled` or `archived`."
    )
    archived_at = TimestampField(allow_null=True, help_text="When it was archived; null while it isn't.")
    created_at = TimestampField()
    updated_at = TimestampField()

    @extend_schema_field(serializers.ChoiceField(Discount.EffectiveStatus.choices))
    def get_effective_status(self, discount: Discount) -> str:
        return discount.effective_status(self.context["now"]).value


class DiscountRedemptionOutput(Output):
    id = fields.IdField()
    kind = serializers.ChoiceField(
        DiscountRedemption.Kind.choices, help_text="`redeem`, or `reversal` when an order is cancelled."
    )
    discount_id = fields.IdField()
    code = serializers.CharField(
        allow_null=True, help_text="The code that was entered; null for a discount that applied by itself."
    )
    checkout_id = fields.IdField()
    order_id = fields.IdField()
    customer_id = fields.IdField(allow_null=True)
    customer_email = serializers.CharField(help_text="The email address of the order.")
    amount_cents = fields.CentsField(help_text="Negative for a reversal.")
    currency = serializers.CharField()
    created_at = TimestampField()
