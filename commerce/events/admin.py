from django.contrib import admin
from django.utils.translation import gettext_lazy

from commerce.backoffice.options import ReadOnlyAdmin

from .models import Event


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    area = "events"
    list_display = ("id", "type", "occurred_at")
    list_filter = ("occurred_at",)
    search_fields = ("type",)
    search_help_text = gettext_lazy("Type, such as checkout.completed")
    fields = ("id", "type", "occurred_at", "api_version", "data")
