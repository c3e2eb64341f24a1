from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.forms import BaseDialogForm

from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import StrOrPromise, json_column, label_column, text_column
from commerce.backoffice.filters import PeriodFilter
from commerce.backoffice.inlines import ReadOnlyRows
from commerce.backoffice.membership import get_membership
from commerce.mail import list_keys_hidden_from

from . import customer_section, figures  # noqa: F401  they register parts of other pages
from .frames import build_message_frame
from .models import EmailDelivery, EmailDeliveryEvent
from .own_templates.admin import EmailTemplateAdmin
from .resending import resend_delivery
from .sender_domains.admin import SenderDomainAdmin
from .statistics_page import StatisticsPage
from .template_sources import load_platform_templates
from .timeline import build_delivery_timeline

__all__ = ["EmailDeliveryAdmin", "EmailTemplateAdmin", "SenderDomainAdmin"]

# Pages of what a message refers to. Clients of the API may give other types.
_PAGES = {"order": "admin:orders_order_change", "voucher": "admin:discounts_voucher_change"}


class ClickForm(BaseDialogForm):
    """Identifies one opening of the dialog, so that a double click counts once."""

    click = forms.UUIDField(label=gettext_lazy("Click"), initial=uuid4, widget=forms.HiddenInput)


class TemplateFilter(admin.SimpleListFilter):
    """Offers the existing templates, without a scan of all deliveries."""

    title = "template"
    parameter_name = "template_key"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [(key, key) for key in sorted(load_platform_templates())]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        value = self.value()
        return queryset if value is None else queryset.filter(template_key=value)


class EventRows(ReadOnlyRows):
    model = EmailDeliveryEvent
    verbose_name_plural = gettext_lazy("Events from the provider")
    hide_title = True
    per_page = 50
    fields = ("type", "occurred_at", "received_at", "event_key")


@admin.register(EmailDelivery)
class EmailDeliveryAdmin(StatisticsPage):
    area = "emails"
    list_display = (
        "to_email",
        "subject",
        "template_key",
        "locale",
        label_column("status", gettext_lazy("Status")),
        "sent_at",
    )
    list_filter = ("status", TemplateFilter, ("sent_at", PeriodFilter))
    sortable_by = ("to_email", "sent_at")
    searches_beginnings = True
    search_fields = ("to_email",)
    search_help_text = gettext_lazy("Beginning of the recipient, or the provider's message id")
    inlines = (EventRows,)
    change_form_before_template = "backoffice/timeline.html"
    actions_detail = ("send_again",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("to_email", "customer"),
                    ("template_key", "locale", "status"),
                    "subject",
                    "about",
                    "provider",
                    "provider_message_id",
                    "idempotency_key",
                )
            },
        ),
        (gettext_lazy("Message"), {"fields": ("html_body",)}),
        (
            gettext_lazy("As text"),
            {"classes": ("collapse",), "fields": (text_column("text", gettext_lazy("Text")),)},
        ),
        (
            gettext_lazy("Context"),
            {"classes": ("collapse",), "fields": (json_column("ctx", gettext_lazy("Variables")),)},
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmailDelivery]:
        # Otherwise the list would read every body. The page of one delivery reads them when it shows them.
        deliveries = super().get_queryset(request).defer("html", "text", "ctx")
        # Such as emails with a gift card's code, for members without the scope for gift cards.
        member = get_membership(request)
        hidden = [] if member is None else list_keys_hidden_from(member)
        return deliveries.exclude(template_key__in=hidden) if hidden else deliveries

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[EmailDelivery], search_term: str
    ) -> tuple[QuerySet[EmailDelivery], bool]:
        text = search_term.strip().replace("\0", "")
        # An index finds a provider's whole id, with or without its brackets; the beginning of one means nothing.
        by_id = queryset.filter(provider_message_id__in=[text, f"<{text}>"])
        if text and by_id.exists():
            return by_id, False
        return super().get_search_results(request, queryset, search_term)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, object],
        *args: object,
        obj: EmailDelivery,
        **kwargs: object,
    ) -> HttpResponse:
        # A form field would be computed several times.
        context["entries"] = build_delivery_timeline(obj)
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    @display(description=gettext_lazy("About"))
    def about(self, delivery: EmailDelivery) -> str:
        if delivery.reference_type is None:
            return "-"
        words = f"{delivery.reference_type} {delivery.reference_id or ''}".strip()
        page = _PAGES.get(delivery.reference_type)
        if page is None or delivery.reference_id is None:
            return words
        return format_html(
            '<a href="{}" class="text-link">{}</a>', reverse(page, args=[delivery.reference_id]), words
        )

    @display(description="HTML")
    def html_body(self, delivery: EmailDelivery) -> str:
        note = _("Images from other hosts are not shown here.")
        return format_html('{}<p class="mt-2 text-subtle">{}</p>', build_message_frame(delivery.html), note)

    @dialog_action(
        gettext_lazy("Send again"),
        description=gettext_lazy(
            "Sends the email to the recipient once more, rendered with the current template."
        ),
        submit=gettext_lazy("Send"),
        form_class=ClickForm,
        icon="mail",
    )
    def send_again(
        self, request: HttpRequest, delivery: EmailDelivery, fields: dict[str, Any]
    ) -> StrOrPromise | None:
        is_new = resend_delivery(delivery_id=delivery.pk, click=fields["click"], now=timezone.now())
        return gettext_lazy("The email will be sent again.") if is_new else None
