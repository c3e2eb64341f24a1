from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.db.models import Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from accounts import operations
from accounts.admin.grantors import get_grantor, list_grantable_roles, list_roles
from accounts.admin.roles import GrantorsAdmin
from accounts.models import StaffInvitation, StaffMembership, StaffRole, User
from accounts.operations import Grantor
from accounts.roles import title_of
from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import StrOrPromise
from commerce.backoffice.forms import RuledModelForm, is_saving
from commerce.backoffice.membership import get_membership
from commerce.errors import InsufficientScope
from commerce.tenancy.locks import lock_account
from commerce.tenancy.scope import current_account_id
from commerce.wording import mark


class StaffUserField(forms.CharField):
    """A user by the exact username. For operators only, as they may know all users."""

    def clean(self, value: object) -> User:
        username = super().clean(value)
        user = User.objects.filter(username=username, is_active=True, is_staff=True).first()
        if user is None:
            raise forms.ValidationError(_("There is no active staff user with this name."))
        return user


class MembershipForm(RuledModelForm):
    user = StaffUserField(label=_("Username"), max_length=150, widget=UnfoldAdminTextInputWidget)

    def format_stored_value(self, name: str) -> str:
        return _get_role_title(self.row) if name == "role" else super().format_stored_value(name)


class RoleFilter(admin.SimpleListFilter):
    """Offers the roles by their titles."""

    title = _("role")
    parameter_name = "role"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return list_roles()

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        value = self.value()
        return queryset if value is None else queryset.filter(role=value)


class WithRole(GrantorsAdmin):
    """Pages of rows with a role, which is one of those that every shop has or one of the shop's own."""

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        if is_saving(request):
            # Before the row: see `change_role`.
            lock_account()
        own_role = StaffRole.objects.filter(pk=OuterRef("own_role_id")).values("name")
        return super().get_queryset(request).annotate(own_role_name=Subquery(own_role))

    def formfield_for_dbfield(
        self, db_field: models.Field, request: HttpRequest, **kwargs: object
    ) -> forms.Field | None:
        if db_field.name == "role":
            choices = list_grantable_roles(request)
            return forms.ChoiceField(label=_("Role"), choices=choices, widget=UnfoldAdminSelectWidget)
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    @display(description=_("Role"), ordering="role")
    def role_title(self, row: Model) -> str:
        return _get_role_title(row)


@admin.register(StaffMembership)
class StaffMembershipAdmin(WithRole):
    deletable = True
    form = MembershipForm
    list_display = ("username", "full_name", "role_title", "created_at")
    actions_detail = ("end_sessions", "reset_second_step")
    list_filter = (RoleFilter,)
    search_fields = ("user__username", "user__last_name")
    fields = ("user", "role")

    def get_queryset(self, request: HttpRequest) -> QuerySet[StaffMembership]:
        members = super().get_queryset(request).filter(account_id=current_account_id())
        return members.select_related("user")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("username", "user") if obj else ()

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        if obj is None:
            return ("user", "role")
        return ("username", "role" if self.has_change_permission(request, obj) else "role_title")

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Owners invite instead: adding would tell them which usernames exist."""
        membership = get_membership(request)
        return membership is not None and membership.is_operator

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_change_permission(request, obj) and not _is_out_of_reach(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not _is_out_of_reach(request, obj)

    @display(description=_("Username"), ordering="user__username")
    def username(self, membership: StaffMembership) -> str:
        return membership.user.get_username()

    @display(description=_("Name"), ordering="user__last_name")
    def full_name(self, membership: StaffMembership) -> str:
        return membership.user.get_full_name()

    @dialog_action(
        _("Log out everywhere"),
        description=_("The member has to log in again on every device."),
        submit=_("Log out"),
        icon="logout",
    )
    def end_sessions(
        self, request: HttpRequest, member: StaffMembership, fields: Mapping[str, object]
    ) -> StrOrPromise:
        operations.end_sessions_of(grantor=get_grantor(request), membership_id=member.pk)
        return _("logged out everywhere")

    def has_owner_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self.has_write_permission(request) and get_grantor(request).is_owner

    @dialog_action(
        _("Reset the second step"),
        description=_(
            "For a member who has lost the device and the recovery codes: all apps, passkeys and codes are "
            "removed, and the member is logged out everywhere. The password stays."
        ),
        submit=_("Reset"),
        icon="phonelink_erase",
        variant=ActionVariant.DANGER,
        permission="owner",
    )
    def reset_second_step(
        self, request: HttpRequest, member: StaffMembership, fields: Mapping[str, object]
    ) -> StrOrPromise | None:
        if member.user_id == request.user.pk:
            # Where the password is asked for: somebody else may sit at the computer.
            raise InsufficientScope(mark("Change your own devices under “Your log-in”."))
        had = operations.reset_second_step_of(grantor=get_grantor(request), membership_id=member.pk)
        if not had:
            self.message_user(request, _("The member has no second step."))
            return None
        return _("reset the second step of the log-in")

    def create_for(self, grantor: Grantor, fields: dict[str, Any]) -> StaffMembership:
        return operations.add_member(account_id=current_account_id(), **fields)

    def update_for(self, grantor: Grantor, row: StaffMembership, changes: dict[str, Any]) -> StaffMembership:
        return operations.change_role(grantor=grantor, membership_id=row.pk, **changes)

    def delete_for(self, grantor: Grantor, row: StaffMembership) -> None:
        operations.remove_member(grantor=grantor, membership_id=row.pk)


@admin.register(StaffInvitation)
class StaffInvitationAdmin(WithRole):
    """Open invitations. Deleting one withdraws it. Nothing tells whether an address has a log-in."""

    deletable = True
    list_display = ("email", "role_title", "invited_by", "created_at", "expires_at")
    list_filter = (RoleFilter,)
    search_fields = ("email",)
    # An export would contain the hash of the token.
    actions = ()
    actions_detail = ("send_again",)
    fields = ("email", "role")

    def get_queryset(self, request: HttpRequest) -> QuerySet[StaffInvitation]:
        return super().get_queryset(request).defer("token_hash")

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        if obj is None:
            return ("email", "role")
        return ("email", "role_title", "invited_by", "created_at", "expires_at")

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> type[forms.ModelForm]:
        form = super().get_form(request, *args, **kwargs)
        if "email" in form.base_fields:
            form.base_fields["email"].required = True
        return form

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def create_for(self, grantor: Grantor, fields: dict[str, Any]) -> StaffInvitation:
        return operations.invite_member(grantor=grantor, now=timezone.now(), **fields)

    def delete_for(self, grantor: Grantor, row: StaffInvitation) -> None:
        operations.withdraw_invitation(invitation_id=row.pk)

    @dialog_action(
        _("Send again"),
        description=_("Sends the email again, with a new link. The earlier link stops working."),
        submit=_("Send"),
        icon="mail",
    )
    def send_again(
        self, request: HttpRequest, invitation: StaffInvitation, fields: Mapping[str, object]
    ) -> StrOrPromise:
        operations.resend_invitation(invitation_id=invitation.pk, now=timezone.now())
        return _("The invitation is on its way.")


def _get_role_title(row: Any) -> str:
    return title_of(row.role, own_name=row.own_role_name)


def _is_out_of_reach(request: HttpRequest, obj: Model | None) -> bool:
    """Whether the row is the member's own, or of somebody who may do more than they may.

    Nobody changes their own rights, so that no shop loses its last owner by mistake.
    """
    if not isinstance(obj, StaffMembership):
        return False
    membership = get_membership(request)
    is_operator = membership is not None and membership.is_operator
    if obj.user_id == request.user.pk and not is_operator:
        return True
    return obj.role not in {role for role, title in list_grantable_roles(request)}
