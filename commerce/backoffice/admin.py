from django.contrib import admin

from .models import StaffAction
from .options import ReadOnlyAdmin


@admin.register(StaffAction)
class StaffActionAdmin(ReadOnlyAdmin):
    owners_only = True
    list_display = ("created_at", "username", "kind", "subject", "subject_id", "summary")
    list_filter = ("kind", "created_at")
    search_fields = ("username", "subject")
    search_help_text = "Username or kind of object"
    fields = ("created_at", "username", "kind", "subject", "subject_id", "summary")
