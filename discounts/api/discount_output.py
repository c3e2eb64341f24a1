from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Output, TimestampField
from discounts.models import Discount, DiscountRedemption


class IdsOutput(serializers.ListField):
    child = fields.IdField()


class BogoTargetOutput(Output):
    quantity = serializers.IntegerField()
    product_ids = IdsOutput()
    variant_ids = IdsOutput()


class BogoOutput(Output):
    buy = BogoTargetOutput()
    get = BogoTargetOutput()
    value_mode = serializers.ChoiceField(Discount.ValueMode.choices)
    value_amount = serializers.IntegerField(allow_null=True)
    max_applications = serializers.IntegerField(allow_null=True)


class TierOutput(Output):
    min_quantity = serializers.IntegerField()
    value_mode = serializers.ChoiceField(Discount.ValueMode.choices)
    value_amount = serializers.IntegerField(allow_null=True)


class BulkTiersOutput(Output):
    scope = serializers.ChoiceField(["line", "order"])
    tiers = TierOutput(many=True)


class DiscountOutput(Output):
    # The context must have `now`, on which the effective status depends.
    id = fields.IdField()
    type = serializers.ChoiceField(Discount.Type.choices)
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
    bogo_config = BogoOutput(allow_null=True)
    bulk_tiers = BulkTiersOutput(allow_null=True)
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
