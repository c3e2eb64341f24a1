from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from accounts import operations
from accounts.models import StaffInvitation, StaffMembership, User
from commerce.backoffice.forms import RuledModelForm
from commerce.backoffice.membership import get_membership
from commerce.backoffice.options import EditableAdmin
from commerce.tenancy.scope import current_account_id


class StaffUserField(forms.CharField):
    """A user by the exact username. For operators only, as they may know all users."""

    def clean(self, value: object) -> User:
        username = super().clean(value)
        user = User.objects.filter(username=username, is_active=True, is_staff=True).first()
        if user is None:
            raise forms.ValidationError("There is no active staff user with this name.")
        return user


class MembershipForm(RuledModelForm):
    user = StaffUserField(label="Username", max_length=150, widget=UnfoldAdminTextInputWidget)


@admin.register(StaffMembership)
class StaffMembershipAdmin(EditableAdmin):
    owners_only = True
    deletable = True
    form = MembershipForm
    list_display = ("username", "full_name", "role", "created_at")
    list_filter = ("role",)
    search_fields = ("user__username", "user__last_name")
    fields = ("user", "role")

    def get_queryset(self, request: HttpRequest) -> QuerySet[StaffMembership]:
        members = super().get_queryset(request).filter(account_id=current_account_id())
        return members.select_related("user")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("username", "user") if obj else ()

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("username", "role") if obj else ("user", "role")

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Owners invite instead: adding would tell them which usernames exist."""
        membership = get_membership(request)
        return membership is not None and membership.is_operator

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_change_permission(request, obj) and not _is_own(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not _is_own(request, obj)

    @display(description="Username", ordering="user__username")
    def username(self, membership: StaffMembership) -> str:
        return membership.user.get_username()

    @display(description="Name", ordering="user__last_name")
    def full_name(self, membership: StaffMembership) -> str:
        return membership.user.get_full_name()

    def create_row(self, fields: dict[str, Any], now: datetime) -> StaffMembership:
        return operations.add_member(account_id=current_account_id(), **fields)

    def update_row(self, row: StaffMembership, changes: dict[str, Any], now: datetime) -> StaffMembership:
        return operations.change_role(membership=row, **changes)

    def delete_row(self, row: StaffMembership, now: datetime) -> None:
        operations.remove_member(membership=row)


@admin.register(StaffInvitation)
class StaffInvitationAdmin(EditableAdmin):
    """Invitations show the username as typed. Whether such a user exists shows only once it is accepted."""

    owners_only = True
    deletable = True
    list_display = ("username", "role", "created_at")
    list_filter = ("role",)
    search_fields = ("username",)
    fields = ("username", "role")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def create_row(self, fields: dict[str, Any], now: datetime) -> StaffInvitation:
        return operations.invite_member(**fields)

    def delete_row(self, row: StaffInvitation, now: datetime) -> None:
        operations.withdraw_invitation(invitation=row)


def _is_own(request: HttpRequest, obj: Model | None) -> bool:
    """People can't remove their own rights, so that no shop loses its last owner by mistake."""
    membership = get_membership(request)
    is_operator = membership is not None and membership.is_operator
    return isinstance(obj, StaffMembership) and obj.user_id == request.user.pk and not is_operator
