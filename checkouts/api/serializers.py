"""Requests and responses of checkouts."""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from checkouts.models import CheckoutPaymentAttempt
from checkouts.phases import Phase
from checkouts.queries import LoadedCheckout, effective_phase
from commerce.formats import as_text, text_id, timestamp
from commerce.orders.api.serializers import (
    AutomaticDiscountOutput,
    DiscountCodeOutput,
    FrozenLineOutput,
    TotalsOutput,
    VatOutput,
)
from commerce.orders.shapes import shape_line, shape_totals
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class CheckoutInput(Input):
    cart_token = fields.TextField(max_length=64)
    email = fields.EmailField()


class AddressFields(Input):
    """The fields of an address. The operation checks completeness, so that its refusal names every missing field."""

    first_name = fields.OptionalTextField(max_length=100)
    last_name = fields.OptionalTextField(max_length=100)
    company = fields.OptionalTextField(max_length=200)
    address1 = fields.OptionalTextField(max_length=255)
    address2 = fields.OptionalTextField(max_length=255)
    city = fields.OptionalTextField(max_length=128)
    zip = fields.OptionalTextField(max_length=16)
    province_code = fields.OptionalTextField(max_length=16)
    country_code = fields.CountryField(required=False, allow_blank=True, allow_null=True)
    phone = fields.OptionalTextField(max_length=40)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        # Null means the same as a missing field, and isn't stored.
        return {name: value for name, value in attrs.items() if value is not None}


class AddressInput(Input):
    email = fields.EmailField(required=False)
    shipping_address = AddressFields(required=False, allow_null=True, default=None)
    billing_address = AddressFields(required=False, allow_null=True, default=None)
    same_as_shipping = fields.BooleanField(required=False)
    customer_note = fields.TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Default `same_as_shipping`: true if no billing address was sent."""
        attrs.setdefault("same_as_shipping", attrs["billing_address"] is None)
        return attrs


class ShippingInput(Input):
    shipping_method_id = fields.IdField()
    shipping_rate_id = fields.IdField()
    pickup_point_id = fields.IdField(required=False, allow_null=True, default=None)


class CodeInput(Input):
    code = fields.TextField(max_length=64)


class VatInput(Input):
    # Not a CountryField, because VAT numbers use EL for Greece and XI for Northern Ireland.
    vat_country_code = fields.TextField(
        required=False, allow_blank=True, allow_null=True, max_length=2, default=""
    )
    vat_number = fields.TextField(
        allow_blank=True, allow_null=True, max_length=32, help_text="An empty value clears it."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["vat_number"] and not attrs["vat_country_code"]:
            raise serializers.ValidationError(
                {"vat_country_code": "A VAT number needs its country."}, code="required"
            )
        return attrs


class PaymentMethodInput(Input):
    payment_method = fields.TextField(max_length=32)


class StartPaymentInput(Input):
    return_url = fields.HttpUrlField(required=False, allow_blank=True, allow_null=True, default="")
    cancel_url = fields.HttpUrlField(required=False, allow_blank=True, allow_null=True, default="")


class ConfirmInput(Input):
    callback_payload = fields.ObjectField(required=False, default=dict)


class ShippingMethodSnapshot(Output):
    id = fields.IdField()
    handle = serializers.CharField()
    name = serializers.CharField()
    carrier = serializers.CharField()
    service_code = serializers.CharField()
    rate_mode = serializers.CharField()
    requires_pickup_point = serializers.BooleanField()
    is_cod_compatible = serializers.BooleanField()
    estimated_days_min = serializers.IntegerField(allow_null=True)
    estimated_days_max = serializers.IntegerField(allow_null=True)
    cod_fee_cents = fields.CentsField()
    rate_id = fields.IdField()
    price_cents = fields.CentsField()
    currency = serializers.CharField()
    is_free = serializers.BooleanField()
    display_name = serializers.CharField(allow_null=True)


class CheckoutOutput(Output):
    id = fields.IdField()
    token = serializers.CharField()
    cart_token = serializers.CharField()
    phase = serializers.ChoiceField(Phase.choices)
    market_id = fields.IdField()
    customer_id = fields.IdField(allow_null=True)
    email = serializers.CharField()
    currency = serializers.CharField()
    locale = serializers.CharField()
    line_items = FrozenLineOutput(many=True)
    shipping_address = serializers.DictField(allow_null=True)
    billing_address = serializers.DictField(allow_null=True)
    same_as_shipping = serializers.BooleanField()
    customer_note = serializers.CharField()
    shipping_method_id = fields.IdField(allow_null=True)
    shipping_rate_id = fields.IdField(allow_null=True)
    shipping_method = ShippingMethodSnapshot(allow_null=True)
    pickup_point_id = fields.IdField(allow_null=True)
    pickup_point = serializers.DictField(allow_null=True)
    payment_method = serializers.CharField(allow_null=True)
    discount_codes = DiscountCodeOutput(many=True)
    automatic_discounts = AutomaticDiscountOutput(many=True)
    vat = VatOutput(allow_null=True)
    totals = TotalsOutput()
    ready_to_complete = serializers.BooleanField()
    failure_code = serializers.CharField(allow_null=True)
    order_id = fields.IdField(allow_null=True)
    order_token = serializers.CharField(allow_null=True)
    expires_at = TimestampField()
    completed_at = TimestampField(allow_null=True)
    created_at = TimestampField()
    updated_at = TimestampField()


class PaymentAttemptOutput(Output):
    id = fields.IdField()
    payment_method = serializers.CharField()
    status = serializers.ChoiceField(CheckoutPaymentAttempt.Status.choices)
    amount_cents = fields.CentsField()
    currency = serializers.CharField()
    redirect_url = serializers.CharField(allow_null=True)
    provider_reference = serializers.CharField(allow_null=True)
    failure_code = serializers.CharField(allow_null=True)
    created_at = TimestampField()
    confirmed_at = TimestampField(allow_null=True)


class PaymentFilter(Input):
    checkout_id = fields.IdField(required=False)
    order_id = fields.IdField(required=False)
    payment_method = fields.TextField(required=False, max_length=32)
    status = serializers.ChoiceField(CheckoutPaymentAttempt.Status.choices, required=False)


class PaymentOutput(PaymentAttemptOutput):
    """A payment attempt as merchants see it."""

    checkout_id = fields.IdField()
    order_id = fields.IdField(allow_null=True)
    paid_late_at = TimestampField(allow_null=True, help_text="Money that arrived too late and is refunded.")
    refunded_at = TimestampField(allow_null=True)
    refund_reference = serializers.CharField(allow_null=True)


def checkout_answer(loaded: LoadedCheckout, *, now: datetime) -> dict[str, object]:
    """Return `{checkout: ...}` in the shape of `CheckoutOutput`."""
    checkout = loaded.checkout
    return {
        "checkout": {
            "id": str(checkout.pk),
            "token": checkout.token,
            "cart_token": checkout.cart_token,
            "phase": effective_phase(checkout, now=now),
            "market_id": str(checkout.market_id),
            "customer_id": text_id(checkout.customer_id),
            "email": checkout.email,
            "currency": checkout.currency,
            "locale": checkout.locale,
            "line_items": [shape_line(line) for line in loaded.charged_lines],
            "shipping_address": checkout.shipping_address,
            "billing_address": checkout.billing_address,
            "same_as_shipping": checkout.same_as_shipping,
            "customer_note": checkout.customer_note,
            "shipping_method_id": text_id(checkout.shipping_method_id),
            "shipping_rate_id": text_id(checkout.shipping_rate_id),
            "shipping_method": as_text(checkout.shipping_method),
            "pickup_point_id": text_id(checkout.pickup_point_id),
            "pickup_point": as_text(checkout.pickup_point),
            "payment_method": checkout.payment_method,
            "discount_codes": as_text(checkout.discount_codes),
            "automatic_discounts": as_text(checkout.automatic_discounts),
            "vat": as_text(checkout.vat),
            "totals": shape_totals(checkout, lines=loaded.lines),
            "ready_to_complete": checkout.ready_to_complete,
            "failure_code": checkout.failure_code,
            "order_id": text_id(checkout.order_id),
            "order_token": checkout.order_token,
            "expires_at": timestamp(checkout.expires_at),
            "completed_at": timestamp(checkout.completed_at),
            "created_at": timestamp(checkout.created_at),
            "updated_at": timestamp(checkout.updated_at),
        }
    }


def attempt_answer(attempt: CheckoutPaymentAttempt) -> dict[str, object]:
    """Return `{payment_attempt: ...}` in the shape of `PaymentAttemptOutput`."""
    return {
        "payment_attempt": {
            "id": str(attempt.pk),
            "payment_method": attempt.payment_method,
            "status": str(attempt.status),
            "amount_cents": str(attempt.amount_cents),
            "currency": attempt.currency,
            "redirect_url": attempt.redirect_url,
            "provider_reference": attempt.provider_reference,
            "failure_code": attempt.failure_code,
            "created_at": timestamp(attempt.created_at),
            "confirmed_at": timestamp(attempt.confirmed_at),
        }
    }
