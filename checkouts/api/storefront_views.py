from typing import ClassVar

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from checkouts import operations, queries
from checkouts.parcels import build_parcel_to_quote
from checkouts.queries import LoadedCheckout
from commerce.attempts import Counter, Limit, digest, limit_attempts
from commerce.client_address import client_address
from commerce.rest import idempotency
from commerce.rest.schema import answers, envelope, one
from commerce.rest.views import StorefrontViewSet
from commerce.tenancy.scope import current_account_id
from shipping.api.serializers import shape_quote
from shipping.queries import quote

from . import serializers as shapes

_HOUR_S = 60 * 60

_CHECKOUT = one("checkout", shapes.CheckoutOutput)
_QUOTES = envelope("CheckoutQuotes", quotes=serializers.ListField(child=serializers.DictField()))
_PAYMENT = envelope(
    "CheckoutPayment", checkout=shapes.CheckoutOutput(), payment_attempt=shapes.PaymentAttemptOutput()
)


class CheckoutsViewSet(StorefrontViewSet):
    """One action per step. The operations check the phases."""

    idempotent_actions = ("complete",)
    # These wait for VIES or a payment gateway.
    unscoped_actions = ("vat", "start_payment", "confirm")
    # Checkouts keep these keys themselves. A stored answer would show the page of an attempt that has failed since
    # (docs/decisions/0006).
    key_knowing_actions = ("start_payment", "complete")
    guessed_codes: ClassVar[dict[str, str]] = {"apply_code": "discount_not_found"}
    shopper_fields: ClassVar[dict[str, str]] = {"create": "cart_token"}

    @answers(_CHECKOUT, request=shapes.CheckoutInput, status=201)
    def create(self, request: Request) -> Response:
        fields = self.valid(shapes.CheckoutInput)
        # Limited per cart, because each checkout stores a copy of its lines.
        name = f"checkouts:{current_account_id()}:{digest(fields['cart_token'])}"
        with limit_attempts(Counter(name, Limit(settings.CHECKOUTS_PER_CART, _HOUR_S))):
            loaded = operations.create_checkout(**fields, now=timezone.now())
        return _answer(loaded, status=201)

    @answers(_CHECKOUT)
    def retrieve(self, request: Request, token: str) -> Response:
        return _answer(queries.get_checkout(token))

    @answers(_CHECKOUT, request=shapes.AddressInput)
    def address(self, request: Request, token: str) -> Response:
        fields = self.valid(shapes.AddressInput)
        return _answer(operations.set_address(token=token, address=fields, now=timezone.now()))

    @answers(_QUOTES)
    def shipping_quote(self, request: Request, token: str) -> HttpResponse:
        options = quote(build_parcel_to_quote(token))
        return self.answer({"quotes": [shape_quote(option) for option in options]})

    @answers(_CHECKOUT, request=shapes.ShippingInput)
    def shipping(self, request: Request, token: str) -> Response:
        fields = self.valid(shapes.ShippingInput)
        return _answer(operations.set_shipping(token=token, **fields, now=timezone.now()))

    @answers(_CHECKOUT, request=shapes.CodeInput)
    def apply_code(self, request: Request, token: str) -> Response:
        fields = self.valid(shapes.CodeInput)
        return _answer(operations.apply_code(token=token, **fields, now=timezone.now()))

    @answers(_CHECKOUT)
    def remove_code(self, request: Request, token: str, code: str) -> Response:
        return _answer(operations.remove_code(token=token, code=code, now=timezone.now()))

    @answers(_CHECKOUT, request=shapes.VatInput)
    def vat(self, request: Request, token: str) -> Response:
        fields = self.valid(shapes.VatInput)
        loaded = operations.set_vat_number(
            token=token,
            **fields,
            address=client_address(request),
            open_scope=self.scope,
            now=timezone.now(),
        )
        return _answer(loaded)

    @answers(_CHECKOUT, request=shapes.PaymentMethodInput)
    def payment_method(self, request: Request, token: str) -> Response:
        fields = self.valid(shapes.PaymentMethodInput)
        return _answer(operations.choose_payment_method(token=token, **fields, now=timezone.now()))

    @answers(_PAYMENT, request=shapes.StartPaymentInput)
    def start_payment(self, request: Request, token: str) -> Response:
        fields = self.valid(shapes.StartPaymentInput)
        loaded, attempt = operations.start_payment(
            token=token, **fields, key=_read_key(request), scope=self.scope, now=timezone.now()
        )
        return _mark_replay(loaded, _answer(loaded, also=shapes.attempt_answer(attempt)))

    @answers(_PAYMENT, request=shapes.ConfirmInput)
    def confirm(self, request: Request, token: str) -> Response:
        """Asks the gateway for the outcome, or cancels the open payment, with `{"cancel": true}` in the payload."""
        fields = self.valid(shapes.ConfirmInput)
        loaded, attempt = operations.confirm_payment(
            token=token, **fields, scope=self.scope, now=timezone.now()
        )
        return _answer(loaded, also=shapes.attempt_answer(attempt))

    @answers(_CHECKOUT, request=serializers.Serializer)
    def complete(self, request: Request, token: str) -> Response:
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
