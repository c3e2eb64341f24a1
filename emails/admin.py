from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from commerce.backoffice.display import label_column
from commerce.backoffice.options import ReadOnlyAdmin

from .frames import message_frame
from .models import EmailDelivery
from .own_templates.admin import EmailTemplateAdmin

__all__ = ["EmailDeliveryAdmin", "EmailTemplateAdmin"]


@admin.register(EmailDelivery)
class EmailDeliveryAdmin(ReadOnlyAdmin):
    list_display = ("to_email", "template_key", "subject", label_column("status", "Status"), "sent_at")
    list_filter = ("status", "sent_at")
    search_fields = ("to_email", "template_key", "provider_message_id")
    search_help_text = "Recipient, template or the provider's message id"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("to_email", "customer"),
                    ("template_key", "locale", "status"),
                    "subject",
                    ("queued_at", "sent_at", "delivered_at"),
                    ("opened_at", "first_clicked_at", "bounced_at"),
                    ("provider", "provider_message_id"),
                    ("reference_type", "reference_id"),
                )
            },
        ),
        ("Message", {"fields": ("html_body",)}),
        ("As text", {"classes": ("collapse",), "fields": ("text",)}),
        ("Context", {"classes": ("collapse",), "fields": ("ctx",)}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmailDelivery]:
        # A list of messages would otherwise read all their bodies.
        return super().get_queryset(request).defer("html", "text", "ctx")

    @display(description="HTML")
    def html_body(self, delivery: EmailDelivery) -> str:
        return message_frame(delivery.html)
