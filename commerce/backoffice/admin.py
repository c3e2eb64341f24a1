from collections.abc import Iterator

from django.apps import apps
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from .filters import PeriodFilter
from .history import render_changes, title_person, translate_summary
from .models import StaffAction
from .options import ReadOnlyAdmin


class PersonFilter(admin.SimpleListFilter):
    """The shop's members. Others, such as operators and those who have left, are found by the search."""

    title = _("person")
    parameter_name = "username"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        # By name, because accounts imports this package.
        members = apps.get_model("accounts", "StaffMembership").objects.order_by("user__username")
        return [(name, name) for name in members.values_list("user__username", flat=True)]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        value = self.value()
        return queryset if value is None else queryset.filter(username=value)


class SubjectFilter(admin.SimpleListFilter):
    """Kinds of objects, by their pages."""

    title = _("object")
    parameter_name = "subject"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return sorted(_list_subjects(), key=lambda subject: subject[1])

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        value = self.value()
        return queryset if value is None else queryset.filter(subject=value)


def _list_subjects() -> Iterator[tuple[str, str]]:
    for model in admin.site._registry:  # noqa: SLF001  Django's own templates read it
        yield model._meta.label_lower, str(model._meta.verbose_name).capitalize()


def _title_subject(label: str) -> str:
    try:
        return str(capfirst(apps.get_model(label)._meta.verbose_name))
    except (LookupError, ValueError):
        # Of another release.
        return label


@admin.register(StaffAction)
class StaffActionAdmin(ReadOnlyAdmin):
    area = "staff"
    list_display = ("created_at", "person", "kind", "object_link", "what", "changed")
    list_filter = ("kind", PersonFilter, SubjectFilter, ("created_at", PeriodFilter))
    sortable_by = ("person",)
    searches_beginnings = True
    search_fields = ("username", "subject")
    search_help_text = _("Beginning of the username or kind of object")
    fields = ("created_at", "person", "kind", "object_link", "what", "changed")

    @display(description=_("Object"))
    def object_link(self, action: StaffAction) -> str:
        """The kind of object and its id, with a link to the history of the object."""
        text = f"{_title_subject(action.subject)} {action.subject_id}"
        try:
            page = f"admin:{action.subject.replace('.', '_')}_history"
            url = reverse(page, args=[action.subject_id])
        except NoReverseMatch:
            return text
        return format_html('<a href="{}" class="text-link">{}</a>', url, text)

    @display(description=_("Person"), ordering="username")
    def person(self, action: StaffAction) -> str:
        return title_person(action.username)

    @display(description=_("What"))
    def what(self, action: StaffAction) -> str:
        return translate_summary(action)

    @display(description=_("Before and after"))
    def changed(self, action: StaffAction) -> str:
        return render_changes(action)
