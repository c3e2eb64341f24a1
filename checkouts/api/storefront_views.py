from typing import ClassVar

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from carts import errors as cart_errors
from carts.api.storefront_views import CartsViewSet
from checkouts import errors, operations, queries
from checkouts.parcels import build_parcel_to_quote
from checkouts.queries import LoadedCheckout
from commerce.attempts import Counter, Limit, digest, limit_attempts
from commerce.client_address import client_address
from commerce.errors import NotFound, TooManyOutsideCalls
from commerce.inventory.errors import InsufficientInventory
from commerce.payments.errors import PaymentGatewayFailed, PaymentMethodNotSupported
from commerce.rest import idempotency
from commerce.rest.errors import IdempotencyKeyReused
from commerce.rest.schema import Link, also_refuses, answers, envelope, one
from commerce.rest.views import StorefrontViewSet
from commerce.taxes.errors import VatNumberInvalid
from commerce.tenancy.scope import current_account_id
from discounts import errors as discount_errors
from discounts.vouchers import errors as voucher_errors
from shipping import errors as shipping_errors
from shipping.api.serializers import QuoteOutput, shape_quote
from shipping.queries import quote

from . import serializers as shapes

_HOUR_S = 60 * 60

_CHECKOUT = one("checkout", shapes.CheckoutOutput)
_QUOTES = envelope("CheckoutQuotes", quotes=QuoteOutput(many=True, help_text="The options, cheapest first."))
_PAYMENT = envelope(
    "CheckoutPayment",
    checkout=shapes.CheckoutOutput(help_text="The checkout as it is now."),
    payment_attempt=shapes.PaymentAttemptOutput(help_text="This attempt to pay."),
)


# Every step is refused if it comes too late, or if totals would exceed what a number in JSON can hold.
_STEP = (errors.InvalidPhase, errors.CheckoutExpired, errors.AmountTooLarge)
_CODE = (
    discount_errors.DiscountNotFound,
    discount_errors.DiscountNotActive,
    discount_errors.DiscountNotStarted,
    discount_errors.DiscountExpired,
    discount_errors.MarketMismatch,
    discount_errors.CustomerNotEligible,
    discount_errors.MinimumNotMet,
    discount_errors.UsageLimitReached,
    discount_errors.CustomerUsageLimitReached,
    discount_errors.DiscountNotApplicable,
    cart_errors.CurrencyMismatch,
    voucher_errors.CurrencyMismatch,
    voucher_errors.VoucherNotActive,
)

_CHOOSE_SHIPPING = Link(
    "storefront_checkouts_set_shipping",
    body={"shipping_method_id": "quotes/0/method/id", "shipping_rate_id": "quotes/0/rate_id"},
)

also_refuses(CartsViewSet.merge, errors.CheckoutInPayment)


class CheckoutsViewSet(StorefrontViewSet):
    """A checkout turns a cart into an order. It freezes the cart's lines and prices, holds their stock, and goes through
    its phases: `pending`, `address`, `shipping`, `payment`, `processing`, `completed`. A failed payment makes it
    `failed`; it goes on once a payment method is chosen again. After an hour without a change it is `abandoned`, and
    its stock is free again.

    Each step may be repeated in its own phase, and is refused in any other with `invalid_phase`, which names the
    phases that allow it. To start over, create another checkout from the same cart.
    """

    idempotent_actions = ("complete",)
    # These wait for VIES or a payment gateway.
    unscoped_actions = ("vat", "start_payment", "confirm")
    # Checkouts keep these keys themselves. A stored answer would show the page of an attempt that has failed since
    # (docs/decisions/0006).
    key_knowing_actions = ("start_payment", "complete")
    guessed_codes: ClassVar[dict[str, str]] = {"apply_code": "discount_not_found"}
    shopper_fields: ClassVar[dict[str, str]] = {"create": "cart_token"}

    @answers(
        _CHECKOUT,
        request=shapes.CheckoutInput,
        status=201,
        refuses=(
            NotFound,
            cart_errors.CartNotActive,
            errors.CartEmpty,
            errors.MarketNotActive,
            InsufficientInventory,
            errors.CheckoutAlreadyOpen,
            errors.CheckoutAlreadyPaid,
            errors.AmountTooLarge,
        ),
    )
    def create(self, request: Request) -> Response:
        """Start a checkout from a cart.

        The cart must be active and have lines. In one transaction, the lines are frozen with their prices and tax
        rates, their stock is reserved at the location of the highest priority, and totals are computed. An older open
        checkout of the cart is abandoned. A cart may start only so many checkouts in an hour.
        """
        fields = self.valid(shapes.CheckoutInput)
        # Limited per cart, because each checkout stores a copy of its lines.
        name = f"checkouts:{current_account_id()}:{digest(fields['cart_token'])}"
        with limit_attempts(Counter(name, Limit(settings.CHECKOUTS_PER_CART, _HOUR_S))):
            loaded = operations.create_checkout(**fields, now=timezone.now())
        return _answer(loaded, status=201)

    @answers(_CHECKOUT)
    def retrieve(self, request: Request, token: str) -> Response:
        """Show a checkout.

        With its `phase`, what the shopper has entered, and totals.
        """
        return _answer(queries.get_checkout(token))

    @answers(
        _CHECKOUT,
        request=shapes.AddressInput,
        refuses=(*_STEP, errors.AddressIncomplete),
        leads_to=[Link("storefront_checkouts_shipping_quote")],
    )
    def address(self, request: Request, token: str) -> Response:
        """Set the addresses.

        The shipping address needs `address1`, `city` and `country_code`; so does a billing address unless
        `same_as_shipping` is true.
        """
        fields = self.valid(shapes.AddressInput)
        return _answer(operations.set_address(token=token, address=fields, now=timezone.now()))

    @answers(_QUOTES, refuses=(errors.InvalidPhase,), leads_to=[_CHOOSE_SHIPPING])
    def shipping_quote(self, request: Request, token: str) -> HttpResponse:
        """List the shipping options for the checkout.

        Every rate that fits the address, the weight and the subtotal, cheapest first. An empty list means that the
        shop doesn't deliver there. Needs an address.
        """
        options = quote(build_parcel_to_quote(token))
        return self.answer({"quotes": [shape_quote(option) for option in options]})

    @answers(
        _CHECKOUT,
        request=shapes.ShippingInput,
        refuses=(
            *_STEP,
            shipping_errors.ShippingRateNotAvailable,
            shipping_errors.CurrencyMismatch,
            shipping_errors.PickupPointRequired,
            shipping_errors.PickupPointMismatch,
            shipping_errors.PickupPointClosed,
        ),
        leads_to=[Link("storefront_checkouts_set_payment_method")],
    )
    def shipping(self, request: Request, token: str) -> Response:
        """Choose a shipping option.

        A method and a rate of the current quote, and a pickup point where the method needs one. Totals then include
        shipping and its tax.
        """
        fields = self.valid(shapes.ShippingInput)
        return _answer(operations.set_shipping(token=token, **fields, now=timezone.now()))

    @answers(
        _CHECKOUT,
        request=shapes.CodeInput,
        refuses=(*_STEP, *_CODE),
    )
    def apply_code(self, request: Request, token: str) -> Response:
        """Enter a discount's or gift card's code.

        The discount must be running, for this market and customer, and within its limits. Stackable codes add up; one
        that doesn't stack replaces the others. A gift card pays: it lowers `amount_due_cents`, not the total. Nothing
        is used up before the payment starts. Repeated, nothing changes. Many wrong codes are refused with
        `rate_limited` for a while.
        """
        fields = self.valid(shapes.CodeInput)
        return _answer(operations.apply_code(token=token, **fields, now=timezone.now()))

    @answers(_CHECKOUT, refuses=(*_STEP, discount_errors.DiscountNotApplied))
    def remove_code(self, request: Request, token: str, code: str) -> Response:
        """Remove a code.

        A discount's or a gift card's. Automatic discounts that it excluded apply again.
        """
        return _answer(operations.remove_code(token=token, code=code, now=timezone.now()))

    @answers(_CHECKOUT, request=shapes.VatInput, refuses=(*_STEP, VatNumberInvalid, TooManyOutsideCalls))
    def vat(self, request: Request, token: str) -> Response:
        """Set the buyer's VAT number.

        The number is checked with VIES, the EU's service. If it is valid and goods go to another EU country than the
        seller's, no tax is charged (reverse charge). If VIES doesn't answer, the status is `unavailable`, and tax is
        charged. An empty number clears it.
        """
        fields = self.valid(shapes.VatInput)
        loaded = operations.set_vat_number(
            token=token,
            **fields,
            address=client_address(request),
            scope=self.scope,
            now=timezone.now(),
        )
        return _answer(loaded)

    @answers(
        _CHECKOUT,
        request=shapes.PaymentMethodInput,
        refuses=(*_STEP, PaymentMethodNotSupported),
        leads_to=[Link("storefront_checkouts_start_payment")],
    )
    def payment_method(self, request: Request, token: str) -> Response:
        """Choose how to pay.

        Totals are final from here on. Cash on delivery needs a shipping method that allows it, and adds its fee.
        After a failed payment, this leads back to the phase `payment`.
        """
        fields = self.valid(shapes.PaymentMethodInput)
        return _answer(operations.choose_payment_method(token=token, **fields, now=timezone.now()))

    @answers(
        _PAYMENT,
        request=shapes.StartPaymentInput,
        refuses=(
            *_STEP,
            PaymentMethodNotSupported,
            PaymentGatewayFailed,
            InsufficientInventory,
            discount_errors.DiscountExhausted,
            voucher_errors.InsufficientBalanceHeld,
            voucher_errors.VoucherNotActive,
            voucher_errors.CurrencyMismatch,
            errors.CheckoutAlreadyPaid,
            TooManyOutsideCalls,
        ),
        leads_to=[Link("storefront_checkouts_confirm")],
    )
    def start_payment(self, request: Request, token: str) -> Response:
        """Start the payment.

        Holds the uses of discounts and the amounts of gift cards, then calls the gateway. Send the shopper to
        `redirect_url` if there is one; it needs `return_url` and `cancel_url`. Cash on delivery and bank transfers
        can be confirmed at once. A repeated request continues the open payment.
        """
        fields = self.valid(shapes.StartPaymentInput)
        loaded, attempt = operations.start_payment(
            token=token, **fields, key=_read_key(request), scope=self.scope, now=timezone.now()
        )
        return _mark_replay(loaded, _answer(loaded, also=shapes.attempt_answer(attempt)))

    @answers(
        _PAYMENT,
        request=shapes.ConfirmInput,
        refuses=(*_STEP, PaymentMethodNotSupported, PaymentGatewayFailed, TooManyOutsideCalls),
        leads_to=[Link("storefront_checkouts_complete")],
    )
    def confirm(self, request: Request, token: str) -> Response:
        """Ask how the payment ended.

        The gateway decides, never the payload. After a success the phase stays `processing` and `ready_to_complete`
        is true. After a failure the answer is still 200, with the phase `failed` and a `failure_code`. `{"cancel":
        true}` in the payload cancels the open payment.
        """
        fields = self.valid(shapes.ConfirmInput)
        loaded, attempt = operations.confirm_payment(
            token=token, **fields, scope=self.scope, now=timezone.now()
        )
        return _answer(loaded, also=shapes.attempt_answer(attempt))

    @answers(
        _CHECKOUT,
        request=shapes.CompleteInput,
        refuses=(*_STEP, errors.PaymentNotConfirmed, errors.CheckoutAlreadyCompleted, IdempotencyKeyReused),
        leads_to=[Link("storefront_orders_retrieve", {"token": "checkout/order_token"})],
    )
    def complete(self, request: Request, token: str) -> Response:
        """Complete a checkout.

        In one transaction: the order is created, reserved stock is committed, discounts and gift cards are redeemed,
        the cart is `converted`, the event `checkout.completed` is published, and the confirmation email is queued.
        Needs a confirmed payment and an `Idempotency-Key`. Repeated with the same key, the answer is the same
        checkout, without a second order or email; with another key it is refused.
        """
        body = vars(request._request)["body_hash"]  # noqa: SLF001
        loaded = operations.complete_checkout(
            token=token, key=_read_key(request), body=body, now=timezone.now()
        )
        return _mark_replay(loaded, _answer(loaded))


def _read_key(request: Request) -> str | None:
    """Return the Idempotency-Key as read by the middleware."""
    return idempotency.key_of(request._request)  # noqa: SLF001


def _answer(loaded: LoadedCheckout, *, status: int = 200, also: dict[str, object] | None = None) -> Response:
    return Response(shapes.checkout_answer(loaded, now=timezone.now()) | (also or {}), status=status)


def _mark_replay(loaded: LoadedCheckout, answer: Response) -> Response:
    """Add the header that marks a repeated request."""
    if loaded.is_replayed:
        answer[idempotency.REPLAYED_HEADER] = "true"
    return answer
