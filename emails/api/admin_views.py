from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from commerce.rest.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, OpenApiParameter, answers, many, one
from commerce.rest.views import AdminViewSet
from emails import queries
from emails.models import EmailDelivery

from . import serializers as shapes

_FILTERS = [
    OpenApiParameter("customer_id", int),
    OpenApiParameter("status", str, enum=EmailDelivery.Status.values),
    OpenApiParameter("template_key", str),
    OpenApiParameter("reference_type", str),
    OpenApiParameter("reference_id", int),
]


class DeliveriesViewSet(AdminViewSet):
    """Messages that a provider has accepted, and what became of them."""

    area = "emails"

    @answers(many("email_deliveries", shapes.DeliveryOutput), parameters=[*PAGE_PARAMETERS, *_FILTERS])
    def list(self, request: Request) -> Response:
        deliveries = queries.deliveries(**self.valid_query(shapes.DeliveryFilters))
        return Response(newest_first(deliveries, self.cursor).answer("email_deliveries", _delivery))

    @answers(
        one("email_delivery", shapes.DeliveryBodyOutput),
        parameters=[OpenApiParameter("include_body", bool, description="Adds `html`, `text` and `ctx`.")],
    )
    def retrieve(self, request: Request, delivery_id: int) -> Response:
        include_body = self.valid_query(shapes.BodyOption)["include_body"]
        delivery = queries.get_delivery(delivery_id, include_body=include_body)
        shape = shapes.DeliveryBodyOutput if include_body else shapes.DeliveryOutput
        return Response({"email_delivery": shape(delivery).data})


def _delivery(delivery: EmailDelivery) -> dict[str, Any]:
    return shapes.DeliveryOutput(delivery).data
