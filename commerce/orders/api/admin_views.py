from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.inventory.errors import InsufficientInventory
from commerce.orders import operations, queries
from commerce.orders.errors import OrderNotOpen
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet

from .serializers import AdminOrderOutput, CancelInput, FulfillInput, OrderFilter, shape_admin_order

_ORDER = one("order", AdminOrderOutput)


class OrdersViewSet(AdminViewSet):
    """A completed checkout becomes an order. Its lines, prices, addresses and totals never change. It is `open` until it
    is paid and shipped (`closed`), or `cancelled`.
    """

    area = "orders"
    # The orders of an archived shop still have to be shipped, cancelled or refunded.
    outlives_archiving = True

    @answers(many("orders", AdminOrderOutput), parameters=[*PAGE_PARAMETERS, OrderFilter])
    def list(self, request: Request) -> Response:
        """List orders.

        By any of the filters together. Newest first.
        """
        found = queries.orders(**self.valid_query(OrderFilter))
        page = newest_first(found, self.cursor, related_bytes=queries.bytes_of_lines())
        return Response(page.answer("orders", shape_admin_order))

    @answers(_ORDER)
    def retrieve(self, request: Request, order_id: int) -> Response:
        """Show an order.

        With its lines, addresses, discounts and totals as they were frozen, and what became of it.
        """
        return _answer(order_id)

    @answers(_ORDER, request=CancelInput, refuses=(OrderNotOpen,))
    def cancel(self, request: Request, order_id: int) -> Response:
        """Cancel an order.

        Puts its stock back, gives back uses of discounts and amounts of gift cards, refunds a paid order through its
        gateway, publishes `order.cancelled`, and emails the customer. A fulfilled order can't be cancelled. Repeated,
        nothing changes.
        """
        reason = self.valid(CancelInput).get("reason") or None
        actor = f"key:{self.principal.key_id}"
        operations.cancel_order(order_id=order_id, reason=reason, actor=actor, now=timezone.now())
        return _answer(order_id)

    @answers(_ORDER, refuses=(OrderNotOpen,))
    def mark_paid(self, request: Request, order_id: int) -> Response:
        """Record that an order was paid.

        For bank transfers and cash on delivery. Publishes `order.paid`; an order that is shipped too is closed.
        Repeated, nothing changes.
        """
        operations.mark_order_paid(order_id=order_id, now=timezone.now())
        return _answer(order_id)

    @answers(_ORDER, request=FulfillInput, refuses=(OrderNotOpen, InsufficientInventory))
    def fulfill(self, request: Request, order_id: int) -> Response:
        """Record that an order was shipped.

        Takes its units out of stock, publishes `order.fulfilled`, and emails the tracking to the customer. An order
        that is paid too is closed. Backorders need the stock first. Repeated, nothing changes.
        """
        # Empty text means none.
        parcel = {name: value or None for name, value in self.valid(FulfillInput).items()}
        operations.fulfill_order(order_id=order_id, **parcel, now=timezone.now())
        return _answer(order_id)


def _answer(order_id: int) -> Response:
    return Response({"order": shape_admin_order(queries.get_order(pk=order_id))})
