from django.utils import timezone
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.customers import operations, queries
from commerce.customers.models import Customer, Segment
from commerce.customers.notifications import read_preferences
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, OpenApiParameter, answers, many, one
from commerce.rest.views import AdminViewSet

from . import serializers as shapes
from .segment_input import SegmentInput

PREFERENCES_ANSWER = inline_serializer(
    "NotificationPreferencesAnswer",
    {"notification_preferences": serializers.DictField(child=serializers.BooleanField())},
)


class CustomersViewSet(AdminViewSet):
    area = "customers"

    @answers(
        many("customers", shapes.CustomerOutput),
        parameters=[*PAGE_PARAMETERS, OpenApiParameter("email", str)],
    )
    def list(self, request: Request) -> Response:
        customers = queries.with_spending(queries.customers(**self.valid_query(shapes.CustomerFilter)))
        return Response(newest_first(customers, self.cursor).answer("customers", _shape_customer))

    @answers(one("customer", shapes.CustomerOutput), request=shapes.CustomerInput, status=201)
    def create(self, request: Request) -> Response:
        customer = operations.create_customer(fields=self.valid(shapes.CustomerInput))
        return Response({"customer": _shape_customer(queries.get_customer(customer.pk))}, status=201)

    @answers(one("customer", shapes.CustomerOutput))
    def retrieve(self, request: Request, customer_id: int) -> Response:
        return Response({"customer": _shape_customer(queries.get_customer(customer_id))})

    @answers(one("customer", shapes.CustomerOutput), request=shapes.CustomerInput, partial=True)
    def update(self, request: Request, customer_id: int) -> Response:
        customer = queries.get_customer(customer_id)
        changes = self.valid(shapes.CustomerInput, partial=True)
        customer = operations.update_customer(customer=customer, changes=changes, now=timezone.now())
        return Response({"customer": _shape_customer(customer)})

    @answers(one("customer", shapes.CustomerOutput))
    def redact(self, request: Request, customer_id: int) -> Response:
        customer = queries.get_customer(customer_id)
        customer = operations.redact_customer(customer=customer, now=timezone.now())
        return Response({"customer": _shape_customer(customer)})


class NotificationPreferencesViewSet(AdminViewSet):
    area = "customers"

    @answers(PREFERENCES_ANSWER)
    def retrieve(self, request: Request, customer_id: int) -> Response:
        return _answer_preferences(queries.get_customer(customer_id))

    @answers(PREFERENCES_ANSWER, request=shapes.PreferencesInput)
    def update(self, request: Request, customer_id: int) -> Response:
        customer = queries.get_customer(customer_id)
        preferences = self.valid(shapes.PreferencesInput)["notification_preferences"]
        return _answer_preferences(operations.change_preferences(customer=customer, preferences=preferences))


class SegmentsViewSet(AdminViewSet):
    area = "customers"

    @answers(many("segments", shapes.SegmentOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        return Response(newest_first(queries.segments(), self.cursor).answer("segments", _shape_segment))

    @answers(one("segment", shapes.SegmentOutput), request=SegmentInput, status=201)
    def create(self, request: Request) -> Response:
        segment = operations.create_segment(fields=self.valid(SegmentInput))
        return Response({"segment": _shape_segment(segment)}, status=201)

    @answers(one("segment", shapes.SegmentOutput))
    def retrieve(self, request: Request, segment_id: int) -> Response:
        return Response({"segment": _shape_segment(queries.get_segment(segment_id))})

    @answers(one("segment", shapes.SegmentOutput), request=SegmentInput, partial=True)
    def update(self, request: Request, segment_id: int) -> Response:
        segment = queries.get_segment(segment_id)
        changes = self.valid(SegmentInput, partial=True)
        return Response(
            {"segment": _shape_segment(operations.update_segment(segment=segment, changes=changes))}
        )

    @answers(None, status=204)
    def destroy(self, request: Request, segment_id: int) -> Response:
        operations.delete_segment(segment_id=segment_id)
        return Response(status=204)


def _shape_customer(customer: Customer) -> dict[str, object]:
    return shapes.CustomerOutput(customer).data


def _answer_preferences(customer: Customer) -> Response:
    return Response({"notification_preferences": read_preferences(customer)})


def _shape_segment(segment: Segment) -> dict[str, object]:
    return shapes.SegmentOutput(segment).data
