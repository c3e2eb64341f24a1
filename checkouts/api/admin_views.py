from rest_framework.request import Request
from rest_framework.response import Response

from checkouts import queries
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet

from .serializers import PaymentFilter, PaymentOutput


class PaymentsViewSet(AdminViewSet):
    """Attempts to pay for checkouts, with their orders and refunds."""

    area = "orders"
    # Refunds of an archived shop may still be under way.
    outlives_archiving = True

    @answers(many("payments", PaymentOutput), parameters=[*PAGE_PARAMETERS, PaymentFilter])
    def list(self, request: Request) -> Response:
        """List payments.

        Every attempt, also those that failed. Newest first.
        """
        found = queries.payments(**self.valid_query(PaymentFilter))
        return Response(newest_first(found, self.cursor).answer("payments", PaymentOutput.of))

    @answers(one("payment", PaymentOutput))
    def retrieve(self, request: Request, payment_id: int) -> Response:
        """Show a payment.

        With the gateway's reference, and what became of a refund.
        """
        return Response({"payment": PaymentOutput.of(queries.get_payment(payment_id))})
