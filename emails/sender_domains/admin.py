from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from commerce.backoffice.dialogs import asking
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.errors import Refusal
from commerce.outbox.operations import enqueue

from .models import SenderDomain
from .operations import wanted_domain


@admin.register(SenderDomain)
class SenderDomainAdmin(ReadOnlyAdmin):
    """Whether mail may come from the shop's own address, and the DNS record that proves it."""

    list_display = ("domain", "verified_at", "record_name", "record_value", "checked_at")
    search_fields = ("domain",)
    actions_detail = ("look_up",)
    fields = (
        ("domain", "status"),
        ("record_name", "record_value"),
        ("verified_at", "checked_at", "missing_since"),
        "failure_code",
    )
    readonly_fields = ("status", "record_name", "record_value")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            wanted_domain()
        except Refusal as refusal:
            self.message_user(request, refusal.detail)
        return super().changelist_view(request, extra_context)

    @asking(
        "Look up the record",
        description="Asks the name servers for the TXT record. The result is shown here within seconds.",
        submit="Look up",
        icon="dns",
    )
    def look_up(self, request: HttpRequest, row: SenderDomain, fields: dict[str, Any]) -> str:
        now = timezone.now()
        enqueue(
            task_name="check_sender_domain",
            payload={"domain_id": row.pk},
            idempotency_key=f"sender_domain/{row.pk}/{now.isoformat()}",
            now=now,
        )
        return f"The record of {row.domain} is being looked up. Load the page again in a moment."
