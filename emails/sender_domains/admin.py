from collections.abc import Mapping

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import StrOrPromise
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.backoffice.summaries import LogSentence
from commerce.backoffice.wordings import explain
from commerce.errors import Refusal
from commerce.outbox.operations import enqueue

from .models import SenderDomain
from .operations import get_wanted_domain, save_wanted_domain

_LOOKED_UP = LogSentence("The record of {domain} is being looked up. Reload the page in a moment.")


@admin.register(SenderDomain)
class SenderDomainAdmin(ReadOnlyAdmin):
    """Whether mail may come from the shop's own address, and the DNS record that proves it."""

    area = "accounts"
    list_display = ("domain", "verified_at", "record_name", "record_value", "checked_at")
    search_fields = ("domain",)
    actions_list = ("look_up_new",)
    actions_detail = ("look_up",)
    fields = (
        ("domain", "status"),
        ("record_name", "record_value"),
        ("verified_at", "checked_at", "missing_since"),
        "failure_code",
    )
    readonly_fields = ("status", "record_name", "record_value")

    @display(description=gettext_lazy("Status"))
    def status(self, row: SenderDomain) -> str:
        return _("Verified") if row.status == "verified" else _("Pending")

    @display(description=gettext_lazy("Name of the record"))
    def record_name(self, row: SenderDomain) -> str:
        return row.record_name

    @display(description=gettext_lazy("Value of the record"))
    def record_value(self, row: SenderDomain) -> str:
        return row.record_value

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        # Not on a POST: after its redirect the message would be shown twice.
        if request.method == "GET":
            try:
                row = get_wanted_domain()
                step = _("Set the TXT record %(name)s of %(domain)s to %(value)s, then look it up.") % {
                    "name": row.record_name,
                    "domain": row.domain,
                    "value": row.record_value,
                }
                step = (
                    _("%(domain)s is verified.") % {"domain": row.domain}
                    if row.status == "verified"
                    else step
                )
            except Refusal as refusal:
                # The account has no sender address yet.
                step = explain(refusal)
            self.message_user(request, step)
        return super().changelist_view(request, extra_context)

    @dialog_action(
        gettext_lazy("Look up the record"),
        description=gettext_lazy("Looks up the TXT record. The result appears here within seconds."),
        submit=gettext_lazy("Look up"),
        icon="dns",
    )
    def look_up(self, request: HttpRequest, row: SenderDomain, fields: Mapping[str, object]) -> StrOrPromise:
        return _enqueue_lookup(row)

    @dialog_action(
        gettext_lazy("Look up the record of the sender address"),
        description=gettext_lazy("Looks up the TXT record for the domain of the account's email_from."),
        submit=gettext_lazy("Look up"),
        icon="dns",
    )
    def look_up_new(self, request: HttpRequest, row: None, fields: Mapping[str, object]) -> StrOrPromise:
        return _enqueue_lookup(save_wanted_domain())


def _enqueue_lookup(row: SenderDomain) -> StrOrPromise:
    now = timezone.now()
    # By a worker, as a look-up may take seconds and this request has a transaction open.
    enqueue(
        task_name="check_sender_domain",
        payload={"domain_id": row.pk},
        idempotency_key=f"sender_domain/{row.pk}/{now.isoformat()}",
        now=now,
    )
    return _LOOKED_UP.fill(domain=row.domain)
