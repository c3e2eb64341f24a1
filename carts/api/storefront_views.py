from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from carts import errors, merging, operations, queries
from commerce.rest.schema import Link, answers, one
from commerce.rest.views import StorefrontViewSet

from . import serializers as shapes

_CART = one("cart", shapes.CartOutput)
_CHANGE_LINE = Link("storefront_cart_lines_update", {"line_id": "cart/line_items/0/id"})
_CHECK_OUT = Link("storefront_checkouts_create", body={"cart_token": "cart/token"})


class CartsViewSet(StorefrontViewSet):
    """A cart holds what a shopper wants to buy, for about 30 days after its last change. Whoever has its token may read
    and change it.

    A cart reserves no stock. Its totals are computed whenever it is read, without shipping and discounts: those
    belong to the checkout.
    """

    @answers(_CART, request=shapes.CartInput, status=201)
    def create(self, request: Request) -> HttpResponse:
        """Create a cart in a market.

        The market decides the currency, the language, and whether prices include tax. Keep the `token`: it is the
        only way to the cart. An `Idempotency-Key` of fewer than 16 characters is not remembered here, since shoppers
        share the storefront key.
        """
        loaded = operations.create_cart(**self.valid(shapes.CartInput), now=timezone.now())
        return self.answer(shapes.cart_answer(loaded), status=201)

    @answers(_CART)
    def retrieve(self, request: Request, token: str) -> HttpResponse:
        """Show a cart.

        A cart that has expired, was merged or became an order is still shown, with its `status`.
        """
        return self.answer(shapes.cart_answer(queries.get_cart(token)))

    @answers(_CART, request=shapes.CartCustomerInput, refuses=(errors.CartNotActive,))
    def set_customer(self, request: Request, token: str) -> HttpResponse:
        """Set or clear a cart's customer.

        For a shopper who logs in or out. Null makes the cart anonymous again.
        """
        fields = self.valid(shapes.CartCustomerInput)
        return self.answer(
            shapes.cart_answer(operations.set_customer(token=token, **fields, now=timezone.now()))
        )

    @answers(
        _CART,
        request=shapes.MergeInput,
        refuses=(
            errors.CartNotActive,
            errors.CartLimitExceeded,
            errors.CurrencyMismatch,
            errors.MergeMarketMismatch,
        ),
    )
    def merge(self, request: Request, token: str) -> HttpResponse:
        """Merge another cart into this one.

        For a shopper who has a cart on another device. Lines of the same variant and attributes add up. The source
        becomes `merged`, and its open checkout is abandoned. Repeated, the answer is the same. Refused while one of
        the carts has a checkout in payment.
        """
        source_token = self.valid(shapes.MergeInput)["source_cart_token"]
        loaded = merging.merge_carts(token=token, source_token=source_token, now=timezone.now())
        return self.answer(shapes.cart_answer(loaded))


class CartLinesViewSet(StorefrontViewSet):
    @answers(
        _CART,
        request=shapes.LineInput,
        refuses=(
            errors.CartNotActive,
            errors.VariantNotFound,
            errors.PricingNotFound,
            errors.CurrencyMismatch,
            errors.CartLimitExceeded,
        ),
        leads_to=[_CHANGE_LINE, _CHECK_OUT],
    )
    def create(self, request: Request, token: str) -> HttpResponse:
        """Add a variant to a cart.

        The line takes the variant's current price in the cart's market. If there is a line with the same variant and
        the same attributes, its quantity grows instead. Each change extends the cart's life. Refused if the variant
        has no price in this market, or one in another currency.
        """
        loaded = operations.add_line(token=token, **self.valid(shapes.LineInput), now=timezone.now())
        return self.answer(shapes.cart_answer(loaded))

    @answers(
        _CART,
        request=shapes.QuantityInput,
        refuses=(
            errors.CartNotActive,
            errors.VariantNotFound,
            errors.PricingNotFound,
            errors.CurrencyMismatch,
            errors.CartLimitExceeded,
        ),
    )
    def partial_update(self, request: Request, token: str, line_id: int) -> HttpResponse:
        """Change a line's quantity.

        The line takes the variant's current price. A quantity of 0 removes the line.
        """
        fields = self.valid(shapes.QuantityInput)
        loaded = operations.set_quantity(token=token, line_id=line_id, **fields, now=timezone.now())
        return self.answer(shapes.cart_answer(loaded))

    @answers(_CART, refuses=(errors.CartNotActive,))
    def destroy(self, request: Request, token: str, line_id: int) -> HttpResponse:
        """Remove a line from a cart.

        The answer is the cart without it. The last line leaves an empty cart.
        """
        loaded = operations.remove_line(token=token, line_id=line_id, now=timezone.now())
        return self.answer(shapes.cart_answer(loaded))
