from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.outbox import operations, queries
from commerce.outbox.models import OutboxDispatch
from commerce.rest.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, OpenApiParameter, answers, many, one
from commerce.rest.views import AdminViewSet

from .serializers import DispatchFilters, DispatchOutput


class DispatchesViewSet(AdminViewSet):
    """The work that follows the account's commits: what is due, done, and given up."""

    area = "emails"
    # A refund that has failed is retried here.
    outlives_archiving = True

    @answers(
        many("outbox_dispatches", DispatchOutput),
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter("status", str, enum=OutboxDispatch.Status.values),
            OpenApiParameter("task_name", str),
        ],
    )
    def list(self, request: Request) -> Response:
        dispatches = queries.dispatches(**self.valid_query(DispatchFilters))
        return Response(newest_first(dispatches, self.cursor).answer("outbox_dispatches", _dispatch))

    @answers(one("outbox_dispatch", DispatchOutput))
    def retrieve(self, request: Request, dispatch_id: int) -> Response:
        return Response({"outbox_dispatch": _dispatch(queries.get_dispatch(dispatch_id))})

    @answers(one("outbox_dispatch", DispatchOutput))
    def retry(self, request: Request, dispatch_id: int) -> Response:
        dispatch = operations.retry_dispatch(dispatch_id=dispatch_id, now=timezone.now())
        return Response({"outbox_dispatch": _dispatch(dispatch)})

    @answers(one("outbox_dispatch", DispatchOutput))
    def cancel(self, request: Request, dispatch_id: int) -> Response:
        dispatch = operations.cancel_dispatch(dispatch_id=dispatch_id, now=timezone.now())
        return Response({"outbox_dispatch": _dispatch(dispatch)})


def _dispatch(dispatch: OutboxDispatch) -> dict[str, Any]:
    return DispatchOutput(dispatch).data
