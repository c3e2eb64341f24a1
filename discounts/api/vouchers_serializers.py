from typing import Any

from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField
from discounts.models import Voucher, VoucherPaymentAttempt, VoucherRedemption
from discounts.vouchers.rules import MAX_CODE, MAX_REASON
from discounts.vouchers.statuses import effective_status


class VoucherInput(Input):
    initial_balance_cents = fields.CentsField(min_value=1)
    currency = fields.CurrencyField()
    recipient_email = fields.EmailField(required=False, allow_null=True)
    expires_at = fields.DateTimeField(required=False, allow_null=True)
    order_id = fields.IdField(required=False, allow_null=True)
    send_email = fields.BooleanField(required=False, help_text="Email the code to `recipient_email`.")


class VoucherFilter(Input):
    status = serializers.ChoiceField(Voucher.Status.values, required=False)
    code = fields.TextField(required=False, max_length=64)
    recipient_email = fields.TextField(required=False, max_length=254)
    currency = fields.CurrencyField(required=False)


class RedeemInput(Input):
    code = fields.TextField(max_length=MAX_CODE)
    amount_cents = fields.CentsField(min_value=1)
    order_id = fields.IdField(required=False, allow_null=True)


class RevokeInput(Input):
    reason = fields.TextField(max_length=MAX_REASON)


class VoucherRedemptionFilter(Input):
    voucher_id = fields.IdField(required=False)
    order_id = fields.IdField(required=False)
    kind = serializers.ChoiceField(VoucherRedemption.Kind.values, required=False)


class ShownStatusField(serializers.ChoiceField):
    """The effective status at the time `now` of the serializer's context."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(Voucher.Status.values, source="*", **kwargs)

    def to_representation(self, value: Any) -> str:
        return effective_status(value, self.context["now"])


class VoucherOutput(Output):
    id = fields.IdField()
    code = serializers.CharField()
    currency = serializers.CharField()
    initial_balance_cents = fields.CentsField()
    balance_cents = fields.CentsField()
    available_cents = fields.CentsField()
    recipient_email = serializers.CharField(allow_null=True)
    status = ShownStatusField()
    expires_at = TimestampField(allow_null=True)
    order_id = fields.IdField(allow_null=True)
    last_redeemed_at = TimestampField(allow_null=True)
    disabled_at = TimestampField(allow_null=True)
    revoked_at = TimestampField(allow_null=True)
    created_at = TimestampField()
    updated_at = TimestampField()


class VoucherPaymentAttemptOutput(Output):
    id = fields.IdField()
    status = serializers.ChoiceField(VoucherPaymentAttempt.Status.values)
    failure_code = serializers.CharField(allow_null=True)
    amount_cents = fields.CentsField()
    order_id = fields.IdField(allow_null=True)
    checkout_id = fields.IdField(allow_null=True)
    actor = serializers.CharField()
    created_at = TimestampField()


class VoucherWithAttemptsOutput(VoucherOutput):
    payment_attempts = VoucherPaymentAttemptOutput(many=True)


class RedeemOutput(Output):
    """The outcome of redeeming; `amount_cents` is positive here."""

    id = fields.IdField()
    voucher_id = fields.IdField()
    order_id = fields.IdField(allow_null=True)
    amount_cents = fields.CentsField()
    balance_before_cents = fields.CentsField()
    balance_after_cents = fields.CentsField()
    currency = serializers.CharField()
    created_at = TimestampField()


class VoucherRedemptionOutput(Output):
    """A ledger entry; `amount_cents` is signed, and negative for redemptions."""

    id = fields.IdField()
    voucher_id = fields.IdField()
    kind = serializers.ChoiceField(VoucherRedemption.Kind.values)
    amount_cents = fields.CentsField()
    balance_after_cents = fields.CentsField()
    order_id = fields.IdField(allow_null=True)
    checkout_id = fields.IdField(allow_null=True)
    actor = serializers.CharField()
    created_at = TimestampField()
