from collections.abc import Callable

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.orders import operations, queries
from commerce.orders.models import Order
from commerce.rest.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet

from .serializers import OrderFilter, OrderOutput, order_answer

_ORDER = one("order", OrderOutput)


class OrdersViewSet(AdminViewSet):
    area = "orders"

    @answers(many("orders", OrderOutput), parameters=[*PAGE_PARAMETERS, OrderFilter])
    def list(self, request: Request) -> Response:
        found = queries.orders(self.valid_query(OrderFilter))
        return Response(newest_first(found, self.cursor).answer("orders", order_answer))

    @answers(_ORDER)
    def retrieve(self, request: Request, order_id: int) -> Response:
        return Response({"order": order_answer(queries.get_order(pk=order_id))})

    @answers(_ORDER)
    def cancel(self, request: Request, order_id: int) -> Response:
        return _after(operations.cancel_order, order_id)

    @answers(_ORDER)
    def mark_paid(self, request: Request, order_id: int) -> Response:
        return _after(operations.mark_order_paid, order_id)

    @answers(_ORDER)
    def fulfill(self, request: Request, order_id: int) -> Response:
        return _after(operations.fulfill_order, order_id)


def _after(operation: Callable[..., Order], order_id: int) -> Response:
    operation(order_id=order_id, now=timezone.now())
    return Response({"order": order_answer(queries.get_order(pk=order_id))})
