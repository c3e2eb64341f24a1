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
    type = TypeField()
    code = serializers.CharField(allow_null=True)
    title = serializers.CharField()
    value_mode = serializers.ChoiceField(Discount.ValueMode.choices, allow_null=True)
    value_amount = serializers.IntegerField(
        allow_null=True, help_text="Basis points for `percentage`, otherwise cents."
    )
    currency = serializers.CharField(allow_null=True)
    applies_to = serializers.ChoiceField(Discount.AppliesTo.choices)
    product_ids = IdsOutput()
    variant_ids = IdsOutput()
    market_ids = IdsOutput()
    stackable = serializers.BooleanField()
    minimum_order_subtotal_cents = fields.CentsField()
    customer_eligibility = serializers.ChoiceField(Discount.Eligibility.choices)
    customer_tags = serializers.ListField(child=serializers.CharField())
    segment_ids = IdsOutput()
    customer_ids = IdsOutput()
    first_order_only = serializers.BooleanField()
    usage_limit_total = serializers.IntegerField(allow_null=True)
    usage_limit_per_customer = serializers.IntegerField(allow_null=True)
    usage_count = serializers.IntegerField(help_text="Uses redeemed and not returned, or held by checkouts.")
    starts_at = TimestampField(allow_null=True)
    ends_at = TimestampField(allow_null=True)
    bogo_config = make_config_output(BOGO)(allow_null=True)
    bulk_tiers = make_config_output(BULK_TIERS)(allow_null=True)
    voucher_id = fields.IdField(
        allow_null=True, help_text="The gift card issued for a discount of type `gift_card`."
    )
    status = serializers.ChoiceField(Discount.Status.choices)
    effective_status = serializers.SerializerMethodField()
    archived_at = TimestampField(allow_null=True)
    created_at = TimestampField()
    updated_at = TimestampField()

    @extend_schema_field(serializers.ChoiceField(Discount.EffectiveStatus.choices))
    def get_effective_status(self, discount: Discount) -> str:
        return discount.effective_status(self.context["now"]).value


class DiscountRedemptionOutput(Output):
    id = fields.IdField()
    kind = serializers.ChoiceField(DiscountRedemption.Kind.choices)
    discount_id = fields.IdField()
    code = serializers.CharField(allow_null=True)
    checkout_id = fields.IdField()
    order_id = fields.IdField()
    customer_id = fields.IdField(allow_null=True)
    customer_email = serializers.CharField()
    amount_cents = fields.CentsField(help_text="Negative for a reversal.")
    currency = serializers.CharField()
    created_at = TimestampField()
