from typing import Any

from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField
from discounts.models import Voucher, VoucherPaymentAttempt, VoucherRedemption
from discounts.vouchers.rules import MAX_CODE, MAX_REASON
from discounts.vouchers.statuses import effective_status


class VoucherInput(Input):
    described_by = "VoucherOutput"

    initial_balance_cents = fields.CentsField(min_value=1, help_text="The balance to issue.")
    currency = fields.CurrencyField()
    recipient_email = fields.EmailField(required=False, allow_null=True)
    expires_at = fields.DateTimeField(required=False, allow_null=True)
    order_id = fields.IdField(required=False, allow_null=True, help_text="The order in which it was bought.")
    send_email = fields.BooleanField(required=False, help_text="Email the code to `recipient_email`.")


class VoucherFilter(Input):
    described_by = "VoucherOutput"

    status = serializers.ChoiceField(Voucher.Status.values, required=False)
    code = fields.TextField(required=False, max_length=64)
    recipient_email = fields.TextField(required=False, max_length=254)
    currency = fields.CurrencyField(required=False, help_text="Only gift cards in this currency.")


class RedeemInput(Input):
    code = fields.TextField(max_length=MAX_CODE, help_text="In any case, with or without hyphens.")
    amount_cents = fields.CentsField(min_value=1, help_text="What to take.")
    order_id = fields.IdField(required=False, allow_null=True, help_text="The order that it pays for.")


class RevokeInput(Input):
    reason = fields.TextField(max_length=MAX_REASON, help_text="Why, for the records.")


class VoucherRedemptionFilter(Input):
    described_by = "VoucherRedemptionOutput"

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
    code = serializers.CharField(
        help_text="Four groups of four symbols. Whoever knows it can spend the balance."
    )
    currency = serializers.CharField()
    initial_balance_cents = fields.CentsField(help_text="The balance when it was issued.")
    balance_cents = fields.CentsField(help_text="What is left.")
    available_cents = fields.CentsField(help_text="What is left, less what open checkouts hold.")
    recipient_email = serializers.CharField(allow_null=True, help_text="Whom it is for.")
    status = ShownStatusField(
        help_text="`active`, `depleted`, `expired`, `disabled` by the shop, or `revoked` for fraud."
    )
    expires_at = TimestampField(allow_null=True, help_text="When it expires; null for never.")
    order_id = fields.IdField(allow_null=True, help_text="The order in which it was bought, if it was.")
    last_redeemed_at = TimestampField(allow_null=True, help_text="When an amount was last taken.")
    disabled_at = TimestampField(allow_null=True, help_text="When it was disabled.")
    revoked_at = TimestampField(allow_null=True, help_text="When it was revoked.")
    created_at = TimestampField()
    updated_at = TimestampField()


class VoucherPaymentAttemptOutput(Output):
    id = fields.IdField()
    status = serializers.ChoiceField(
        VoucherPaymentAttempt.Status.values, help_text="`succeeded` or `refused`."
    )
    failure_code = serializers.CharField(
        allow_null=True, help_text="Why it was refused, as the code of the refusal."
    )
    amount_cents = fields.CentsField(help_text="What was to be taken.")
    order_id = fields.IdField(allow_null=True, help_text="The order that was to be paid.")
    checkout_id = fields.IdField(allow_null=True, help_text="The checkout that was to be paid.")
    actor = serializers.CharField(
        help_text="Who tried: `key:ID`, `staff:NAME`, `checkout:ID`, or `command:NAME`."
    )
    created_at = TimestampField()


class VoucherWithAttemptsOutput(VoucherOutput):
    payment_attempts = VoucherPaymentAttemptOutput(
        many=True, help_text="Every attempt to pay with it, oldest first."
    )


class RedeemOutput(Output):
    """The outcome of redeeming; `amount_cents` is positive here."""

    id = fields.IdField()
    voucher_id = fields.IdField()
    order_id = fields.IdField(allow_null=True, help_text="The order that it pays for.")
    amount_cents = fields.CentsField(help_text="What was taken.")
    balance_before_cents = fields.CentsField(help_text="The balance before.")
    balance_after_cents = fields.CentsField(help_text="The balance after.")
    currency = serializers.CharField()
    created_at = TimestampField()


class VoucherRedemptionOutput(Output):
    """A ledger entry; `amount_cents` is signed, and negative for redemptions."""

    id = fields.IdField()
    voucher_id = fields.IdField()
    kind = serializers.ChoiceField(
        VoucherRedemption.Kind.values, help_text="`issue`, `redeem` or `reversal`."
    )
    amount_cents = fields.CentsField(help_text="The change of the balance: negative for redemptions.")
    balance_after_cents = fields.CentsField(help_text="The balance after it.")
    order_id = fields.IdField(allow_null=True)
    checkout_id = fields.IdField(allow_null=True)
    actor = serializers.CharField(
        help_text="Who did it: `key:ID`, `staff:NAME`, `checkout:ID`, `payment:ID` when a payment is refunded, or `command:NAME`."
    )
    created_at = TimestampField()
