from rest_framework.request import Request
from rest_framework.response import Response

from commerce.orders import queries
from commerce.rest.schema import answers, one
from commerce.rest.views import StorefrontViewSet

from .serializers import OrderOutput, shape_order


class StorefrontOrdersViewSet(StorefrontViewSet):
    """An order for whoever holds its token, as the customer's order page shows it."""

    @answers(one("order", OrderOutput))
    def retrieve(self, request: Request, token: str) -> Response:
        """Show an order to its customer.

        By the `order_token` of the completed checkout.
        """
        return Response({"order": shape_order(queries.get_order(token=token))})
