from collections.abc import Mapping

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display
from unfold.enums import ActionVariant

from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import json_column, label_column, text_column
from commerce.backoffice.export import export_as_csv
from commerce.backoffice.membership import get_membership
from commerce.backoffice.options import ReadOnlyAdmin

from . import operations
from .failed import FailedFilter
from .handlers import tasks_of
from .models import OutboxDispatch


@admin.register(OutboxDispatch)
class OutboxDispatchAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "task",
        label_column("status", "Status"),
        "attempts",
        "due_at",
        "created_at",
        "finished_at",
    )
    list_filter = (FailedFilter, "status", "created_at")
    sortable_by = ("id",)
    searches_beginnings = True
    search_fields = ("idempotency_key",)
    search_help_text = "Beginning of the idempotency key"
    actions = ("retry", "cancel", export_as_csv)
    actions_detail = ("retry_this", "cancel_this")
    fields = (
        ("id", "task", "status"),
        ("attempts", "max_attempts"),
        ("due_at", "locked_until"),
        ("created_at", "finished_at"),
        "idempotency_key",
        text_column("last_error", "Last error"),
        json_column("payload", "Payload"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[OutboxDispatch]:
        """Only owners see webhook endpoints, so only they see webhook dispatches."""
        dispatches = super().get_queryset(request).defer("message")
        membership = get_membership(request)
        if membership is not None and membership.may_view(owners_only=True):
            return dispatches
        return dispatches.exclude(target__task_name__in=tasks_of(["events"]))

    @display(description="Task")
    def task(self, dispatch: OutboxDispatch) -> str:
        return dispatch.target.get("task_name", "-")

    @admin.action(description="Retry the selected dispatches", permissions=["write"])
    def retry(self, request: HttpRequest, queryset: QuerySet[OutboxDispatch]) -> None:
        now = timezone.now()
        self.act_on_each(
            request, queryset, lambda row: operations.retry_dispatch(dispatch_id=row.pk, now=now), "retried"
        )

    @admin.action(description="Cancel the selected dispatches", permissions=["write"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[OutboxDispatch]) -> None:
        now = timezone.now()
        self.act_on_each(
            request,
            queryset,
            lambda row: operations.cancel_dispatch(dispatch_id=row.pk, now=now),
            "cancelled",
        )

    @dialog_action(
        "Retry",
        description="It runs at once, and may be retried as often as a new dispatch.",
        submit="Retry",
        icon="replay",
    )
    def retry_this(self, request: HttpRequest, dispatch: OutboxDispatch, fields: Mapping[str, object]) -> str:
        operations.retry_dispatch(dispatch_id=dispatch.pk, now=timezone.now())
        return "The dispatch runs at once."

    @dialog_action(
        "Cancel",
        description="It won't run unless it is retried.",
        submit="Cancel the dispatch",
        icon="cancel",
        variant=ActionVariant.DANGER,
    )
    def cancel_this(
        self, request: HttpRequest, dispatch: OutboxDispatch, fields: Mapping[str, object]
    ) -> str:
        operations.cancel_dispatch(dispatch_id=dispatch.pk, now=timezone.now())
        return "The dispatch is cancelled."
