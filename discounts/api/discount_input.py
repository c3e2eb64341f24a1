"""Request fields of a discount. Rules across fields are in `discounts.rules`."""

from typing import Any

from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input
from discounts.evaluation.config import MAX_COUNT
from discounts.field_rules import (
    MAX_CODE,
    MAX_TAG,
    MAX_TAGS,
    MAX_TITLE,
    STATUSES,
    discount_code,
)
from discounts.mechanics.bulk_pricing import BULK_TIERS
from discounts.mechanics.buy_x_get_y import BOGO
from discounts.models import Discount

from .configs import IdsField, TypeField, WithConfig, make_config_input
from .discount_output import DiscountOutput


class CodeField(fields.FormattedField):
    """A discount code, stored as typed, in NFC."""

    rule = staticmethod(discount_code)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_CODE, **kwargs)


class DiscountChanges(WithConfig, Input):
    described_by = DiscountOutput

    # The stored type is accepted, so that clients can send back what they have read.
    type = TypeField(required=False)
    code = CodeField(required=False, allow_null=True)
    title = fields.TextField(max_length=MAX_TITLE)
    value_mode = serializers.ChoiceField(Discount.ValueMode.choices, required=False, allow_null=True)
    value_amount = fields.IntegerField(
        required=False, allow_null=True, help_text="Basis points for `percentage`, otherwise cents."
    )
    currency = fields.CurrencyField(
        required=False,
        allow_null=True,
        help_text="Of amounts and of the minimum. A minimum without one is in the currency that the markets of the "
        "discount share, or else in the account's default currency.",
    )
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
    bogo_config = make_config_input(BOGO)(required=False, allow_null=True)
    bulk_tiers = make_config_input(BULK_TIERS)(required=False, allow_null=True)
    status = serializers.ChoiceField(
        STATUSES, required=False, allow_null=True, help_text="`active` or `disabled`. A DELETE archives it."
    )


class DiscountInput(DiscountChanges):
    type = TypeField()


class DiscountFilter(Input):
    described_by = DiscountOutput

    type = TypeField(required=False)
    status = serializers.ChoiceField(Discount.Status.choices, required=False)
    code = fields.TextField(required=False, max_length=MAX_CODE)


class DiscountRedemptionFilter(Input):
    discount_id = fields.IdField(required=False)
    order_id = fields.IdField(required=False)
    customer_id = fields.IdField(required=False)
    code = fields.TextField(required=False, max_length=MAX_CODE, help_text="Only uses of this code.")
