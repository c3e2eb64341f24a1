from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from carts import merging, operations, queries
from commerce.rest.schema import answers, one
from commerce.rest.views import StorefrontViewSet

from . import serializers as shapes

_CART = one("cart", shapes.CartOutput)


class CartsViewSet(StorefrontViewSet):
    @answers(_CART, request=shapes.CartInput, status=201)
    def create(self, request: Request) -> HttpResponse:
        loaded = operations.create_cart(**self.valid(shapes.CartInput), now=timezone.now())
        return self.answer(shapes.cart_answer(loaded), status=201)

    @answers(_CART)
    def retrieve(self, request: Request, token: str) -> HttpResponse:
        return self.answer(shapes.cart_answer(queries.get_cart(token)))

    @answers(_CART, request=shapes.CartCustomerInput)
    def set_customer(self, request: Request, token: str) -> HttpResponse:
        fields = self.valid(shapes.CartCustomerInput)
        return self.answer(
            shapes.cart_answer(operations.set_customer(token=token, **fields, now=timezone.now()))
        )

    @answers(_CART, request=shapes.MergeInput)
    def merge(self, request: Request, token: str) -> HttpResponse:
        source_token = self.valid(shapes.MergeInput)["source_cart_token"]
        loaded = merging.merge_carts(token=token, source_token=source_token, now=timezone.now())
        return self.answer(shapes.cart_answer(loaded))


class CartLinesViewSet(StorefrontViewSet):
    @answers(_CART, request=shapes.LineInput)
    def create(self, request: Request, token: str) -> HttpResponse:
        loaded = operations.add_line(token=token, **self.valid(shapes.LineInput), now=timezone.now())
        return self.answer(shapes.cart_answer(loaded))

    @answers(_CART, request=shapes.QuantityInput)
    def partial_update(self, request: Request, token: str, line_id: int) -> HttpResponse:
        fields = self.valid(shapes.QuantityInput)
        loaded = operations.set_quantity(token=token, line_id=line_id, **fields, now=timezone.now())
        return self.answer(shapes.cart_answer(loaded))

    @answers(_CART)
    def destroy(self, request: Request, token: str, line_id: int) -> HttpResponse:
        loaded = operations.remove_line(token=token, line_id=line_id, now=timezone.now())
        return self.answer(shapes.cart_answer(loaded))
