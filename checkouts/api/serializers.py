"""Requests and responses of checkouts."""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from checkouts.models import CheckoutPaymentAttempt
from checkouts.phases import Phase
from checkouts.queries import LoadedCheckout, effective_phase
from commerce.formats import as_text, text_id, timestamp
from commerce.orders.api.serializers import (
    AddressOutput,
    AutomaticDiscountOutput,
    DiscountCodeOutput,
    FrozenLineOutput,
    PickupPointSnapshotOutput,
    ShippingSnapshotOutput,
    TotalsOutput,
    VatOutput,
)
from commerce.orders.shapes import shape_line, shape_totals
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class CheckoutInput(Input):
    cart_token = fields.TextField(max_length=64, help_text="The cart to buy.")
    email = fields.EmailField(help_text="Where the confirmation is sent.")


class AddressFields(Input):
    """The fields of an address. The operation checks completeness, so that its refusal names every missing field."""

    described_by = AddressOutput

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
    email = fields.EmailField(required=False, help_text="Another address for the confirmation.")
    shipping_address = AddressFields(
        required=False, allow_null=True, default=None, help_text="Where the goods go."
    )
    billing_address = AddressFields(
        required=False,
        allow_null=True,
        default=None,
        help_text="Who gets the invoice; null if it is the shipping address.",
    )
    same_as_shipping = fields.BooleanField(
        required=False,
        help_text="Whether the shipping address is the billing address too. True unless a billing address is sent.",
    )
    customer_note = fields.TextField(
        required=False, allow_blank=True, allow_null=True, max_length=2000, help_text="A note to the shop."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Default `same_as_shipping`: true if no billing address was sent."""
        attrs.setdefault("same_as_shipping", attrs["billing_address"] is None)
        return attrs


class ShippingInput(Input):
    shipping_method_id = fields.IdField(help_text="The `method.id` of an option of the quote.")
    shipping_rate_id = fields.IdField(help_text="The `rate_id` of the same option.")
    pickup_point_id = fields.IdField(
        required=False,
        allow_null=True,
        default=None,
        help_text="A pickup point of the method's carrier, where the method requires one.",
    )


class CodeInput(Input):
    code = fields.TextField(
        max_length=64,
        help_text="As the shopper typed it: case is ignored, and so are hyphens in a gift card's code.",
    )


class VatInput(Input):
    # Not a CountryField, because VAT numbers use EL for Greece and XI for Northern Ireland.
    vat_country_code = fields.TextField(
        required=False,
        allow_blank=True,
        allow_null=True,
        max_length=2,
        default="",
        help_text="The country of the number: ISO 3166-1 alpha-2, `EL` for Greece, `XI` for Northern Ireland.",
    )
    vat_number = fields.TextField(
        allow_blank=True,
        allow_null=True,
        max_length=32,
        help_text="The number, with or without its country's prefix. An empty value clears it.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["vat_number"] and not attrs["vat_country_code"]:
            raise serializers.ValidationError(
                {"vat_country_code": "A VAT number needs its country."}, code="required"
            )
        return attrs


class PaymentMethodInput(Input):
    payment_method = fields.TextField(
        max_length=32,
        help_text="`cod`, `bank_transfer`, or a gateway that the shop has set up, such as `stripe`.",
    )


class StartPaymentInput(Input):
    return_url = fields.HttpUrlField(
        required=False,
        allow_blank=True,
        allow_null=True,
        default="",
        help_text="Where the gateway sends the shopper afterwards. Required by gateways with a page of their own.",
    )
    cancel_url = fields.HttpUrlField(
        required=False,
        allow_blank=True,
        allow_null=True,
        default="",
        help_text="Where the gateway sends a shopper who gives up. Required with `return_url`.",
    )


class ConfirmInput(Input):
    callback_payload = fields.ObjectField(
        required=False,
        default=dict,
        help_text='What the gateway gave to the browser, if anything. `{"cancel": true}` cancels the payment.',
    )


class CompleteInput(Input):
    """No fields: everything is known by now."""


class CheckoutOutput(Output):
    id = fields.IdField()
    token = serializers.CharField(help_text="The secret that gives access to the checkout.")
    cart_token = serializers.CharField(help_text="The cart that is bought.")
    phase = serializers.ChoiceField(
        Phase.choices,
        help_text="How far it is: `pending`, `address`, `shipping`, `payment`, `processing`, then `completed`; or `failed` or `abandoned`.",
    )
    market_id = fields.IdField()
    customer_id = fields.IdField(
        allow_null=True, help_text="The cart's customer; null for a guest until the checkout is completed."
    )
    email = serializers.CharField(help_text="Where the confirmation is sent.")
    currency = serializers.CharField()
    locale = serializers.CharField(help_text="The language of emails about it.")
    line_items = FrozenLineOutput(many=True, help_text="The cart's lines with their frozen prices.")
    shipping_address = AddressOutput(allow_null=True, help_text="Where the goods go; null until it is set.")
    billing_address = AddressOutput(
        allow_null=True, help_text="Who gets the invoice; null if it is the shipping address."
    )
    same_as_shipping = serializers.BooleanField(
        help_text="Whether the shipping address is the billing address too."
    )
    customer_note = serializers.CharField(help_text="A note to the shop.")
    shipping_method_id = fields.IdField(allow_null=True, help_text="The chosen shipping method.")
    shipping_rate_id = fields.IdField(allow_null=True, help_text="The chosen rate.")
    shipping_method = ShippingSnapshotOutput(
        allow_null=True, help_text="The chosen method and rate as they were when chosen."
    )
    pickup_point_id = fields.IdField(
        allow_null=True, help_text="The chosen pickup point, if the method needs one."
    )
    pickup_point = PickupPointSnapshotOutput(
        allow_null=True, help_text="The pickup point as it was when chosen."
    )
    payment_method = serializers.CharField(
        allow_null=True, help_text="How the shopper pays; null until chosen."
    )
    discount_codes = DiscountCodeOutput(many=True, help_text="The codes that were entered, in this order.")
    automatic_discounts = AutomaticDiscountOutput(many=True, help_text="Discounts that apply without a code.")
    vat = VatOutput(allow_null=True, help_text="The buyer's VAT number; null if none was given.")
    totals = TotalsOutput(help_text="What it costs now; final from the phase `payment` on.")
    ready_to_complete = serializers.BooleanField(
        help_text="Whether the payment has succeeded, so that `complete` is all that is missing."
    )
    failure_code = serializers.CharField(
        allow_null=True, help_text="Why the last payment failed, such as `card_declined`."
    )
    order_id = fields.IdField(allow_null=True, help_text="The order; null until the checkout is completed.")
    order_token = serializers.CharField(
        allow_null=True, help_text="The secret that gives the customer access to the order."
    )
    expires_at = TimestampField(help_text="When the checkout is abandoned unless it is paid before.")
    completed_at = TimestampField(allow_null=True, help_text="When it was completed.")
    created_at = TimestampField()
    updated_at = TimestampField()


class PaymentAttemptOutput(Output):
    id = fields.IdField()
    payment_method = serializers.CharField(help_text="The method of this attempt.")
    status = serializers.ChoiceField(
        CheckoutPaymentAttempt.Status.choices,
        help_text="`pending`, `requires_action` by the shopper, `succeeded` or `failed`.",
    )
    amount_cents = fields.CentsField(help_text="What is to be paid.")
    currency = serializers.CharField()
    redirect_url = serializers.CharField(
        allow_null=True, help_text="The gateway's page, where the shopper has to go; null if there is none."
    )
    provider_reference = serializers.CharField(
        allow_null=True, help_text="The gateway's name of the payment."
    )
    failure_code = serializers.CharField(allow_null=True, help_text="Why it failed, such as `card_declined`.")
    created_at = TimestampField()
    confirmed_at = TimestampField(allow_null=True, help_text="When it succeeded.")


class PaymentFilter(Input):
    described_by = "PaymentOutput"

    checkout_id = fields.IdField(required=False)
    order_id = fields.IdField(required=False)
    payment_method = fields.TextField(required=False, max_length=32)
    status = serializers.ChoiceField(CheckoutPaymentAttempt.Status.choices, required=False)


class PaymentOutput(PaymentAttemptOutput):
    """A payment attempt as merchants see it."""

    checkout_id = fields.IdField()
    order_id = fields.IdField(allow_null=True, help_text="The order; null until the checkout is completed.")
    paid_late_at = TimestampField(allow_null=True, help_text="Money that arrived too late and is refunded.")
    refunded_at = TimestampField(allow_null=True, help_text="When it was refunded; null if it wasn't.")
    refund_reference = serializers.CharField(allow_null=True, help_text="The gateway's name of the refund.")


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
