"""What a request may say of a discount, field by field; how fields fit each other is in `discounts.rules`."""

import re
from operator import itemgetter
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input
from discounts.models import Discount
from discounts.rules import normalise_code

MAX_IDS = 1000
MAX_TAGS = 100
MAX_QUANTITY = 9999
MAX_TIERS = 20
MAX_COUNT = 2**31 - 1
STATUSES = (Discount.Status.ACTIVE, Discount.Status.DISABLED)

# What people print on leaflets. A code is part of a path, so there is no slash, no space and nothing invisible.
_CODE = re.compile(r"(?=.*[^\W_])[\w.%+&!*@$€£-]+")


class CodeField(fields.TextField):
    """A discount code, kept as it was typed, in one Unicode form."""

    default_error_messages = {
        "invalid_code": "Letters, digits and any of - _ . % + & ! * @ $ € £, at least one letter or digit."
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=64, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        code = normalise_code(super().to_internal_value(data))
        if not _CODE.fullmatch(code):
            self.fail("invalid_code")
        return code


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
    scope = serializers.ChoiceField(["line", "order"])
    tiers = fields.ListField(child=TierInput(), allow_empty=False, max_length=MAX_TIERS)

    def validate_tiers(self, tiers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Any order comes in, and the rising one is kept."""
        quantities = [tier["min_quantity"] for tier in tiers]
        for index, quantity in enumerate(quantities):
            if quantity in quantities[:index]:
                detail = serializers.ErrorDetail("Another tier has it.", "duplicate")
                raise serializers.ValidationError({str(index): {"min_quantity": detail}})
        return sorted(tiers, key=itemgetter("min_quantity"))


@extend_schema_field(BogoInput)
class BogoField(fields.WholeField):
    shape = BogoInput


@extend_schema_field(BulkTiersInput)
class BulkTiersField(fields.WholeField):
    shape = BulkTiersInput


class DiscountChanges(Input):
    type = serializers.ChoiceField(Discount.Type.choices, required=False)
    code = CodeField(required=False, allow_null=True)
    title = fields.TextField(max_length=200)
    value_mode = serializers.ChoiceField(Discount.ValueMode.choices, required=False, allow_null=True)
    value_amount = fields.IntegerField(
        required=False, allow_null=True, help_text="Basis points for `percentage`, else cents."
    )
    currency = fields.CurrencyField(required=False, allow_null=True)
    applies_to = serializers.ChoiceField(Discount.AppliesTo.choices, required=False, allow_null=True)
    product_ids = IdsField(required=False, allow_null=True)
    variant_ids = IdsField(required=False, allow_null=True)
    market_ids = IdsField(required=False, allow_null=True, help_text="None is all markets.")
    stackable = fields.BooleanField(required=False, allow_null=True)
    minimum_order_subtotal_cents = fields.CentsField(required=False, allow_null=True)
    customer_eligibility = serializers.ChoiceField(
        Discount.Eligibility.choices, required=False, allow_null=True
    )
    customer_tags = fields.ListField(
        child=fields.TextField(max_length=64), required=False, allow_null=True, max_length=MAX_TAGS
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
    code = fields.TextField(required=False, max_length=64)


class DiscountRedemptionFilter(Input):
    discount_id = fields.IdField(required=False)
    order_id = fields.IdField(required=False)
    customer_id = fields.IdField(required=False)
    code = fields.TextField(required=False, max_length=64)
