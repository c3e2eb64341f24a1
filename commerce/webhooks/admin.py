from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from commerce.backoffice.dialogs import dialog_action, show_secret
from commerce.backoffice.display import StrOrPromise, label_column
from commerce.backoffice.inlines import ReadOnlyRows
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.backoffice.summaries import LogSentence
from commerce.wording import mark

from . import operations, work  # noqa: F401  work registers a task
from .models import WebhookDelivery, WebhookEndpoint
from .rules import MAX_GRACE_S

_PINGED = LogSentence("The message {message} is on its way.")


class RotationForm(BaseDialogForm):
    grace_seconds = forms.IntegerField(
        label=gettext_lazy("Seconds for which messages are also signed with the old secret"),
        min_value=0,
        max_value=MAX_GRACE_S,
        initial=86_400,
        widget=UnfoldAdminIntegerFieldWidget,
    )


class DeliveryRows(ReadOnlyRows):
    model = WebhookDelivery
    verbose_name_plural = gettext_lazy("Deliveries")
    ordering = ("-pk",)
    per_page = 20
    fields = (
        "created_at",
        "event_type",
        "message_id",
        "attempt",
        label_column("status", gettext_lazy("Status")),
        "response_status",
        "error",
        "duration_ms",
    )


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ReadOnlyAdmin):
    area = "events"
    list_display = (
        "url",
        "description",
        label_column("status", gettext_lazy("Status")),
        "disabled_reason",
        "consecutive_failures",
        "failing_since",
    )
    list_filter = ("status",)
    search_fields = ("url", "description")
    # An export would contain the secrets.
    actions = ()
    actions_detail = ("ping", "pause", "resume", "rotate_secret")
    inlines = (DeliveryRows,)
    fields = (
        ("url", "description"),
        ("topics_or_all", "api_version"),
        ("status", "disabled_reason", "paused_at"),
        ("consecutive_failures", "failing_since", "rests_until"),
        ("created_at", "updated_at", "previous_secret_until"),
    )

    @display(description=gettext_lazy("Events"))
    def topics_or_all(self, endpoint: WebhookEndpoint) -> str:
        return ", ".join(endpoint.topics) or _("All")

    @dialog_action(
        gettext_lazy("Ping"),
        description=gettext_lazy(
            "Sends a test message. The endpoint's answer is shown among its deliveries."
        ),
        submit=gettext_lazy("Ping"),
        icon="send",
    )
    def ping(
        self, request: HttpRequest, endpoint: WebhookEndpoint, fields: Mapping[str, object]
    ) -> StrOrPromise:
        message_id = operations.ping_endpoint(endpoint_id=endpoint.pk, now=timezone.now())
        return _PINGED.fill(message=message_id)

    @dialog_action(
        gettext_lazy("Pause"),
        description=gettext_lazy(
            "Nothing is sent until it is resumed. Events in between are not sent later."
        ),
        submit=gettext_lazy("Pause"),
        icon="pause",
    )
    def pause(
        self, request: HttpRequest, endpoint: WebhookEndpoint, fields: Mapping[str, object]
    ) -> StrOrPromise:
        operations.pause_endpoint(endpoint_id=endpoint.pk, now=timezone.now())
        return gettext_lazy("The endpoint is paused.")

    @dialog_action(
        gettext_lazy("Resume"),
        description=gettext_lazy("Events from now on are sent; earlier failures are reset."),
        submit=gettext_lazy("Resume"),
        icon="play_arrow",
    )
    def resume(
        self, request: HttpRequest, endpoint: WebhookEndpoint, fields: Mapping[str, object]
    ) -> StrOrPromise:
        operations.resume_endpoint(endpoint_id=endpoint.pk, now=timezone.now())
        return gettext_lazy("The endpoint is active.")

    @dialog_action(
        gettext_lazy("Rotate the secret"),
        description=gettext_lazy("Makes a new secret, which is shown once, here."),
        submit=gettext_lazy("Rotate"),
        form_class=RotationForm,
        icon="autorenew",
        variant=ActionVariant.DANGER,
    )
    def rotate_secret(
        self, request: HttpRequest, endpoint: WebhookEndpoint, fields: dict[str, Any]
    ) -> HttpResponse:
        rotated = operations.rotate_secret(
            endpoint_id=endpoint.pk, grace_seconds=fields["grace_seconds"], now=timezone.now()
        )
        # `dialog_action` logs an action itself only if it returns a sentence.
        self.log_change(request, endpoint, mark("secret rotated"))
        return show_secret(request, name=rotated.url, secret=rotated.secret)


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    area = "events"
    list_display = (
        "created_at",
        "endpoint",
        "event_type",
        "message_id",
        "attempt",
        label_column("status", gettext_lazy("Status")),
        "response_status",
    )
    list_filter = ("status", "created_at")
    list_select_related = ("endpoint",)
    search_fields = ("message_id", "event_type")
    search_help_text = gettext_lazy("Id or type of the event")
    fields = (
        ("endpoint", "created_at"),
        ("event_type", "message_id", "attempt"),
        ("status", "response_status", "duration_ms"),
        "error",
        "response_excerpt",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookDelivery]:
        # The list doesn't show it, and it takes up to a KiB for each row.
        return super().get_queryset(request).defer("response_excerpt")
