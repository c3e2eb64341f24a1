from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.errors import InsufficientScope
from commerce.outbox import operations, queries
from commerce.outbox.errors import DispatchNotCancellable, DispatchNotRetryable
from commerce.outbox.handlers import area_of, shape_payload, tasks_of
from commerce.outbox.models import OutboxDispatch
from commerce.paging import newest_first
from commerce.principal import Principal
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import Access, AdminViewSet

from .serializers import DispatchFilters, DispatchOutput


class DispatchesViewSet(AdminViewSet):
    """The shop's background work: emails, webhooks, refunds, each tried again after failures. After the last retry a
    dispatch is `dead` and waits for a person.

    A key sees the work of those areas that its scopes allow. Of an email with a gift card's code, `payload.ctx` is
    null for keys without `read_vouchers`.
    """

    # A key sees the work of those areas that its scopes allow.
    area = "emails"
    further_areas = ("events", "orders")
    # A refund that has failed is retried here.
    outlives_archiving = True

    @answers(
        many("outbox_dispatches", DispatchOutput),
        parameters=[*PAGE_PARAMETERS, DispatchFilters],
    )
    def list(self, request: Request) -> Response:
        """List background work.

        Newest first.
        """
        dispatches = queries.dispatches(
            **self.valid_query(DispatchFilters), tasks=_list_readable_tasks(self.principal)
        )
        return Response(newest_first(dispatches, self.cursor).answer("outbox_dispatches", self._shape))

    @answers(one("outbox_dispatch", DispatchOutput), refuses=(InsufficientScope,))
    def retrieve(self, request: Request, dispatch_id: int) -> Response:
        """Show a dispatch.

        With its payload, its attempts and the last error.
        """
        return Response(
            {"outbox_dispatch": self._shape(_load_permitted(dispatch_id, self.principal, "read"))}
        )

    @answers(one("outbox_dispatch", DispatchOutput), refuses=(InsufficientScope, DispatchNotRetryable))
    def retry(self, request: Request, dispatch_id: int) -> Response:
        """Run a dead or cancelled dispatch again.

        It is due at once, with all of its retries. It keeps its idempotency key, so what has been done already isn't
        done twice.
        """
        _load_permitted(dispatch_id, self.principal, "write")
        dispatch = operations.retry_dispatch(dispatch_id=dispatch_id, now=timezone.now())
        return Response({"outbox_dispatch": self._shape(dispatch)})

    @answers(one("outbox_dispatch", DispatchOutput), refuses=(InsufficientScope, DispatchNotCancellable))
    def cancel(self, request: Request, dispatch_id: int) -> Response:
        """Cancel a dispatch.

        Only while it is pending or dead. Repeated, it is refused.
        """
        _load_permitted(dispatch_id, self.principal, "write")
        dispatch = operations.cancel_dispatch(dispatch_id=dispatch_id, now=timezone.now())
        return Response({"outbox_dispatch": self._shape(dispatch)})

    def _shape(self, dispatch: OutboxDispatch) -> dict[str, object]:
        return DispatchOutput.of(dispatch) | {"payload": shape_payload(dispatch, self.principal)}


_AREAS = (DispatchesViewSet.area, *DispatchesViewSet.further_areas)


def _list_readable_tasks(principal: Principal) -> list[str] | None:
    """The tasks that the key may read; None means all, also those that this release doesn't know."""
    readable = [area for area in _AREAS if principal.may(f"read_{area}")]
    return None if len(readable) == len(_AREAS) else tasks_of(readable)


def _load_permitted(dispatch_id: int, principal: Principal, access: Access) -> OutboxDispatch:
    """Load a dispatch. Raises `NotFound`, and `InsufficientScope` if the key has no scope for its area."""
    dispatch = queries.get_dispatch(dispatch_id)
    area = area_of(dispatch.task_name)
    # A task without an area, or one that this release doesn't know, could concern any of them.
    for scope in (f"{access}_{needed}" for needed in ([area] if area else _AREAS)):
        if not principal.may(scope):
            raise InsufficientScope.of(scope)
    return dispatch
