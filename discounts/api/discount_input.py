"""Request fields of a discount. Rules across fields are in `discounts.rules`."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input
from discounts.field_rules import (
    BOGO_CONFIG,
    BULK_TIERS,
    MAX_CODE,
    MAX_COUNT,
    MAX_IDS,
    MAX_MECHANICS_BYTES,
    MAX_QUANTITY,
    MAX_TAG,
    MAX_TAGS,
    MAX_TIERS,
    MAX_TITLE,
    SCOPES,
    STATUSES,
    discount_code,
)
from discounts.models import Discount


class CodeField(fields.FormattedField):
    """A discount code, stored as typed, in NFC."""

    rule = staticmethod(discount_code)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_CODE, **kwargs)


class IdsField(fields.ListField):
    child = fields.IdField()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_IDS, **kwargs)


class ValueInput(Input):
    value_mode = serializers.ChoiceField(Discount.ValueMode.choices)
    value_amount = fields.IntegerField(default=None, allow_null=True)


class BogoTargetInput(Input):
    quantity = fields.IntegerField(min_value=1, max_value=MAX_QUANTITY)
    product_ids = IdsField(default=list)
    variant_ids = IdsField(default=list)


class BogoInput(ValueInput):
    buy = BogoTargetInput()
    get = BogoTargetInput()
    max_applications = fields.IntegerField(default=None, allow_null=True, min_value=1, max_value=MAX_COUNT)


class TierInput(ValueInput):
    min_quantity = fields.IntegerField(min_value=1, max_value=MAX_QUANTITY)


class BulkTiersInput(Input):
    scope = serializers.ChoiceField(SCOPES)
    tiers = fields.ListField(child=TierInput(), allow_empty=False, max_length=MAX_TIERS)


@extend_schema_field(BogoInput)
class BogoField(fields.WholeField):
    shape = BogoInput
    rule = staticmethod(BOGO_CONFIG)
    max_bytes = MAX_MECHANICS_BYTES


@extend_schema_field(BulkTiersInput)
class BulkTiersField(fields.WholeField):
    shape = BulkTiersInput
    rule = staticmethod(BULK_TIERS)
    max_bytes = MAX_MECHANICS_BYTES


class DiscountChanges(Input):
    type = serializers.ChoiceField(Discount.Type.choices, required=False)
    code = CodeField(required=False, allow_null=True)
    title = fields.TextField(max_length=MAX_TITLE)
    value_mode = serializers.ChoiceField(Discount.ValueMode.choices, required=False, allow_null=True)
    value_amount = fields.IntegerField(
        required=False, allow_null=True, help_text="Basis points for `percentage`, otherwise cents."
    )
    currency = fields.CurrencyField(required=False, allow_null=True)
    applies_to = serializers.ChoiceField(Discount.AppliesTo.choices, required=False, allow_null=True)
    product_ids = IdsField(required=False, allow_null=True)
    variant_ids = IdsField(required=False, allow_null=True)
    market_ids = IdsField(required=False, allow_null=True, help_text="Empty means all markets.")
    stackable = fields.BooleanField(required=False, allow_null=True)
    minimum_order_subtotal_cents = fields.CentsField(required=False, allow_null=True)
    customer_eligibility = serializers.ChoiceField(
        Discount.Eligibility.choices, required=False, allow_null=True
    )
    customer_tags = fields.ListField(
        child=fields.TextField(max_length=MAX_TAG), required=False, allow_null=True, max_length=MAX_TAGS
    )
    segment_ids = IdsField(required=False, allow_null=True)
    customer_ids = IdsField(required=False, allow_null=True)
    first_order_only = fields.BooleanField(required=False, allow_null=True)
    usage_limit_total = fields.IntegerField(required=False, allow_null=True, min_value=1, max_value=MAX_COUNT)
    usage_limit_per_customer = fields.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=MAX_COUNT
    )
    starts_at = fields.DateTimeField(required=False, allow_null=True)
    ends_at = fields.DateTimeField(required=False, allow_null=True)
    bogo_config = BogoField(required=False, allow_null=True)
    bulk_tiers = BulkTiersField(required=False, allow_null=True)
    status = serializers.ChoiceField(STATUSES, required=False, allow_null=True)


class DiscountInput(DiscountChanges):
    type = serializers.ChoiceField(Discount.Type.choices)


class DiscountFilter(Input):
    type = serializers.ChoiceField(Discount.Type.choices, required=False)
    status = serializers.ChoiceField(Discount.Status.choices, required=False)
    code = fields.TextField(required=False, max_length=MAX_CODE)


class DiscountRedemptionFilter(Input):
    discount_id = fields.IdField(required=False)
    order_id = fields.IdField(required=False)
    customer_id = fields.IdField(required=False)
    code = fields.TextField(required=False, max_length=MAX_CODE)
