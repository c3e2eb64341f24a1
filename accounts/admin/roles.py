from copy import copy
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectMultipleWidget

from accounts import operations
from accounts.admin.grantors import get_grantor
from accounts.admin.scopes import join_titles, list_choices
from accounts.models import StaffRole
from accounts.operations import Grantor
from accounts.roles import STAFF_AREA, STAFF_SCOPES, holds_all
from accounts.rules import ROLE
from commerce.backoffice.audit import describe_changes
from commerce.backoffice.forms import (
    RuledModelForm,
    get_form_state,
    read_all_values,
    read_changed_values,
)
from commerce.backoffice.options import EditableAdmin, copy_row


class GrantorsAdmin(EditableAdmin):
    """Pages whose operations need to know who gives or takes rights."""

    area = STAFF_AREA

    def create_for(self, grantor: Grantor, fields: dict[str, Any]) -> Model:
        raise NotImplementedError

    def update_for(self, grantor: Grantor, row: Any, changes: dict[str, Any]) -> Model:
        raise NotImplementedError

    def delete_for(self, grantor: Grantor, row: Any) -> None:
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        grantor = get_grantor(request)
        if not change:
            saved = self.create_for(grantor, read_all_values(form))
        elif changes := read_changed_values(form):
            before = copy(form.row)
            saved = self.update_for(grantor, form.row, changes)
            get_form_state(request).changes += describe_changes(before, saved)
        else:
            return
        copy_row(saved, obj)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        self.delete_for(get_grantor(request), obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet) -> None:
        grantor = get_grantor(request)
        for row in list(queryset.order_by("pk")):
            # Django asks for the list as a whole, whereas some members are out of reach.
            if not self.has_delete_permission(request, row):
                raise PermissionDenied
            self.delete_for(grantor, row)


class RoleForm(RuledModelForm):
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"),
        help_text=_("What members with this role may look at and change. Hold Ctrl to select several."),
        choices=list_choices(STAFF_SCOPES),
        widget=UnfoldAdminSelectMultipleWidget(attrs={"size": 14}),
    )

    def format_stored_value(self, name: str) -> str:
        return join_titles(self.row.scopes) if name == "scopes" else super().format_stored_value(name)


@admin.register(StaffRole)
class StaffRoleAdmin(GrantorsAdmin):
    """The shop's own roles, besides those that every shop has."""

    deletable = True
    form = RoleForm
    rules = ROLE
    list_display = ("name", "scope_titles", "updated_at")
    search_fields = ("name",)
    fields = ("name", "scopes")

    @display(description=_("Scopes"))
    def scope_titles(self, role: StaffRole) -> str:
        return join_titles(role.scopes)

    def get_fieldsets(self, request: HttpRequest, obj: StaffRole | None = None) -> Any:
        may_change = self.has_change_permission(request, obj)
        return [(None, {"fields": self.fields if may_change else ("name", "scope_titles")})]

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_change_permission(request, obj) and _may_give(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _may_give(request, obj)

    def create_for(self, grantor: Grantor, fields: dict[str, Any]) -> StaffRole:
        return operations.create_role(grantor=grantor, fields=fields)

    def update_for(self, grantor: Grantor, row: StaffRole, changes: dict[str, Any]) -> StaffRole:
        return operations.update_role(grantor=grantor, role_id=row.pk, changes=changes)

    def delete_for(self, grantor: Grantor, row: StaffRole) -> None:
        operations.delete_role(grantor=grantor, role_id=row.pk)


def _may_give(request: HttpRequest, obj: Model | None) -> bool:
    return not isinstance(obj, StaffRole) or holds_all(get_grantor(request).scopes, obj.scopes)
