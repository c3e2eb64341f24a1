from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy, gettext_noop, ngettext
from unfold.decorators import display
from unfold.enums import ActionVariant

from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import StrOrPromise, json_column, label_column, text_column
from commerce.backoffice.export import export_as_csv
from commerce.backoffice.membership import get_membership, may, require
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.principal import AREAS

from . import operations
from .failed import FailedFilter
from .handlers import area_of, shape_payload, tasks_of
from .models import OutboxDispatch

# Of tasks, as in the API.
_AREAS = ("emails", "events", "orders")


@admin.register(OutboxDispatch)
class OutboxDispatchAdmin(ReadOnlyAdmin):
    area = "emails"
    list_display = (
        "id",
        "task",
        label_column("status", gettext_lazy("Status")),
        "attempts",
        "due_at",
        "created_at",
        "finished_at",
    )
    list_filter = (FailedFilter, "status", "created_at")
    sortable_by = ("id",)
    searches_beginnings = True
    search_fields = ("idempotency_key",)
    search_help_text = gettext_lazy("Beginning of the idempotency key")
    actions = ("retry", "cancel", export_as_csv)
    actions_detail = ("retry_this", "cancel_this")
    fields = (
        ("id", "task", "status"),
        ("attempts", "max_attempts"),
        ("due_at", "locked_until"),
        ("created_at", "finished_at"),
        "idempotency_key",
        text_column("last_error", gettext_lazy("Last error")),
        json_column("payload", gettext_lazy("Payload")),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[OutboxDispatch]:
        """Leave out the tasks of areas that the member may not look at, as the API does."""
        dispatches = super().get_queryset(request).defer("message")
        readable = [area for area in _AREAS if may(request, f"read_{area}")]
        # With all areas, also tasks without one, or that this release doesn't know.
        if len(readable) == len(_AREAS):
            return dispatches
        return dispatches.filter(target__task_name__in=tasks_of(readable))

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        # An export has every payload in full, such as the code of a gift card.
        if not all(may(request, f"read_{area}") for area in AREAS):
            actions.pop(export_as_csv.__name__, None)
        return actions

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> OutboxDispatch | None:
        dispatch = super().get_object(request, *args, **kwargs)
        member = get_membership(request)
        if dispatch is not None and member is not None:
            dispatch.payload = shape_payload(dispatch, member)
        return dispatch

    @display(description=gettext_lazy("Task"))
    def task(self, dispatch: OutboxDispatch) -> str:
        return dispatch.target.get("task_name", "-")

    @admin.action(description=gettext_lazy("Retry the selected dispatches"), permissions=["write"])
    def retry(self, request: HttpRequest, queryset: QuerySet[OutboxDispatch]) -> None:
        now = timezone.now()

        def retry(row: OutboxDispatch) -> None:
            _require_scope(request, row)
            operations.retry_dispatch(dispatch_id=row.pk, now=now)

        count = self.act_on_each(request, queryset, retry, done=gettext_noop("retried"))
        text = ngettext("%(count)d dispatch retried.", "%(count)d dispatches retried.", count)
        self.message_user(request, text % {"count": count}, messages.SUCCESS)

    @admin.action(description=gettext_lazy("Cancel the selected dispatches"), permissions=["write"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[OutboxDispatch]) -> None:
        now = timezone.now()

        def cancel(row: OutboxDispatch) -> None:
            _require_scope(request, row)
            operations.cancel_dispatch(dispatch_id=row.pk, now=now)

        count = self.act_on_each(request, queryset, cancel, done=gettext_noop("cancelled"))
        text = ngettext("%(count)d dispatch cancelled.", "%(count)d dispatches cancelled.", count)
        self.message_user(request, text % {"count": count}, messages.SUCCESS)

    @dialog_action(
        gettext_lazy("Retry"),
        description=gettext_lazy("It runs at once, and may be retried as often as a new dispatch."),
        submit=gettext_lazy("Retry"),
        icon="replay",
    )
    def retry_this(
        self, request: HttpRequest, dispatch: OutboxDispatch, fields: Mapping[str, object]
    ) -> StrOrPromise:
        _require_scope(request, dispatch)
        operations.retry_dispatch(dispatch_id=dispatch.pk, now=timezone.now())
        return gettext_lazy("The dispatch runs at once.")

    @dialog_action(
        gettext_lazy("Cancel"),
        description=gettext_lazy("It won't run unless it is retried."),
        submit=gettext_lazy("Cancel the dispatch"),
        icon="cancel",
        variant=ActionVariant.DANGER,
    )
    def cancel_this(
        self, request: HttpRequest, dispatch: OutboxDispatch, fields: Mapping[str, object]
    ) -> StrOrPromise:
        _require_scope(request, dispatch)
        operations.cancel_dispatch(dispatch_id=dispatch.pk, now=timezone.now())
        return gettext_lazy("The dispatch is cancelled.")


def _require_scope(request: HttpRequest, dispatch: OutboxDispatch) -> None:
    """Raise `InsufficientScope` unless the member may change what the dispatch is about, as the API does."""
    area = area_of(dispatch.task_name)
    for needed in [area] if area else _AREAS:
        require(request, f"write_{needed}")
