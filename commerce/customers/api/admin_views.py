from django.utils import timezone
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.customers import operations, queries
from commerce.customers.errors import CustomerEmailTaken, CustomerRedacted, SegmentHandleTaken
from commerce.customers.models import Customer
from commerce.customers.notifications import read_preferences
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet

from . import serializers as shapes
from .segment_input import SegmentInput

PREFERENCES_ANSWER = inline_serializer(
    "NotificationPreferencesAnswer",
    {
        "notification_preferences": serializers.DictField(
            child=serializers.BooleanField(),
            help_text="Each email by its template's key: true unless switched off.",
        )
    },
)


class CustomersViewSet(AdminViewSet):
    """People who buy. Completing a checkout adds a customer for an email address that is new to the shop."""

    area = "customers"

    @answers(
        many("customers", shapes.CustomerOutput),
        parameters=[*PAGE_PARAMETERS, shapes.CustomerFilter],
    )
    def list(self, request: Request) -> Response:
        """List customers.

        With how many orders each has placed and what they have spent. Newest first.
        """
        customers = queries.with_spending(queries.customers(**self.valid_query(shapes.CustomerFilter)))
        return Response(newest_first(customers, self.cursor).answer("customers", shapes.CustomerOutput.of))

    @answers(
        one("customer", shapes.CustomerOutput),
        request=shapes.CustomerInput,
        status=201,
        refuses=(CustomerEmailTaken,),
    )
    def create(self, request: Request) -> Response:
        """Add a customer.

        An email address belongs to one customer of the shop, whatever its case.
        """
        customer = operations.create_customer(fields=self.valid(shapes.CustomerInput))
        return Response({"customer": shapes.CustomerOutput.of(queries.get_customer(customer.pk))}, status=201)

    @answers(one("customer", shapes.CustomerOutput))
    def retrieve(self, request: Request, customer_id: int) -> Response:
        """Show a customer.

        With how many orders the customer has placed and what they cost together. Of a redacted customer, nothing
        personal is left.
        """
        return Response({"customer": shapes.CustomerOutput.of(queries.get_customer(customer_id))})

    @answers(
        one("customer", shapes.CustomerOutput),
        request=shapes.CustomerInput,
        partial=True,
        refuses=(CustomerEmailTaken, CustomerRedacted),
    )
    def update(self, request: Request, customer_id: int) -> Response:
        """Change a customer.

        Only the fields that are sent change. Orders keep the address that they were placed with.
        """
        queries.get_customer(customer_id)
        changes = self.valid(shapes.CustomerInput, partial=True)
        operations.update_customer(customer_id=customer_id, changes=changes, now=timezone.now())
        return Response({"customer": shapes.CustomerOutput.of(queries.get_customer(customer_id))})

    @answers(one("customer", shapes.CustomerOutput))
    def redact(self, request: Request, customer_id: int) -> Response:
        """Erase a customer's personal data.

        Names, addresses, phone numbers and emails are erased wherever they are stored, also in orders. Amounts,
        countries and dates stay. It can't be undone. Repeated, nothing changes.
        """
        operations.redact_customer(customer_id=customer_id, now=timezone.now())
        return Response({"customer": shapes.CustomerOutput.of(queries.get_customer(customer_id))})


class NotificationPreferencesViewSet(AdminViewSet):
    area = "customers"

    @answers(PREFERENCES_ANSWER)
    def retrieve(self, request: Request, customer_id: int) -> Response:
        """Show which emails a customer wants.

        Every email that the shop sends, with true unless the customer has switched it off.
        """
        return _answer_preferences(queries.get_customer(customer_id))

    @answers(PREFERENCES_ANSWER, request=shapes.PreferencesInput, refuses=(CustomerRedacted,))
    def update(self, request: Request, customer_id: int) -> Response:
        """Switch emails of a customer on or off.

        Only the emails that are named change.
        """
        queries.get_customer(customer_id)
        preferences = self.valid(shapes.PreferencesInput)["notification_preferences"]
        customer = operations.change_preferences(customer_id=customer_id, preferences=preferences)
        return _answer_preferences(customer)


class SegmentsViewSet(AdminViewSet):
    """A segment is a saved filter over customers. Discounts can be limited to segments."""

    area = "customers"

    @answers(many("segments", shapes.SegmentOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        """List segments.

        Newest first.
        """
        return Response(
            newest_first(queries.segments(), self.cursor).answer("segments", shapes.SegmentOutput.of)
        )

    @answers(
        one("segment", shapes.SegmentOutput), request=SegmentInput, status=201, refuses=(SegmentHandleTaken,)
    )
    def create(self, request: Request) -> Response:
        """Save a segment.

        Customers belong to it as soon as all conditions of its filter hold for them.
        """
        segment = operations.create_segment(fields=self.valid(SegmentInput))
        return Response({"segment": shapes.SegmentOutput.of(segment)}, status=201)

    @answers(one("segment", shapes.SegmentOutput))
    def retrieve(self, request: Request, segment_id: int) -> Response:
        """Show a segment.

        With its filter. Its members are determined each time a discount is checked.
        """
        return Response({"segment": shapes.SegmentOutput.of(queries.get_segment(segment_id))})

    @answers(
        one("segment", shapes.SegmentOutput),
        request=SegmentInput,
        partial=True,
        refuses=(SegmentHandleTaken,),
    )
    def update(self, request: Request, segment_id: int) -> Response:
        """Change a segment.

        Only the fields that are sent change; the filter is replaced as a whole.
        """
        queries.get_segment(segment_id)
        changes = self.valid(SegmentInput, partial=True)
        segment = operations.update_segment(segment_id=segment_id, changes=changes)
        return Response({"segment": shapes.SegmentOutput.of(segment)})

    @answers(None, status=204)
    def destroy(self, request: Request, segment_id: int) -> Response:
        """Delete a segment.

        Its members can then no longer use the discounts that are limited to it.
        """
        operations.delete_segment(segment_id=segment_id)
        return Response(status=204)


def _answer_preferences(customer: Customer) -> Response:
    return Response({"notification_preferences": read_preferences(customer)})
