from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.orders import operations, queries
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet

from .serializers import AdminOrderOutput, CancelInput, FulfillInput, OrderFilter, shape_admin_order

_ORDER = one("order", AdminOrderOutput)


class OrdersViewSet(AdminViewSet):
    area = "orders"
    # The orders of an archived shop still have to be shipped, cancelled or refunded.
    outlives_archiving = True

    @answers(many("orders", AdminOrderOutput), parameters=[*PAGE_PARAMETERS, OrderFilter])
    def list(self, request: Request) -> Response:
        found = queries.orders(**self.valid_query(OrderFilter))
        page = newest_first(found, self.cursor, related_bytes=queries.bytes_of_lines())
        return Response(page.answer("orders", shape_admin_order))

    @answers(_ORDER)
    def retrieve(self, request: Request, order_id: int) -> Response:
        return _answer(order_id)

    @answers(_ORDER, request=CancelInput)
    def cancel(self, request: Request, order_id: int) -> Response:
        reason = self.valid(CancelInput).get("reason") or None
        actor = f"key:{self.principal.key_id}"
        operations.cancel_order(order_id=order_id, reason=reason, actor=actor, now=timezone.now())
        return _answer(order_id)

    @answers(_ORDER)
    def mark_paid(self, request: Request, order_id: int) -> Response:
        operations.mark_order_paid(order_id=order_id, now=timezone.now())
        return _answer(order_id)

    @answers(_ORDER, request=FulfillInput)
    def fulfill(self, request: Request, order_id: int) -> Response:
        # Empty text means none.
        parcel = {name: value or None for name, value in self.valid(FulfillInput).items()}
        operations.fulfill_order(order_id=order_id, **parcel, now=timezone.now())
        return _answer(order_id)


def _answer(order_id: int) -> Response:
    return Response({"order": shape_admin_order(queries.get_order(pk=order_id))})
