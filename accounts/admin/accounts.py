from collections.abc import Mapping
from datetime import datetime

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext_lazy
from unfold.dataclasses import UnfoldAction
from unfold.enums import ActionVariant

from accounts import operations
from accounts.models import Account
from accounts.rules import ACCOUNT
from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import StrOrPromise
from commerce.backoffice.membership import get_membership
from commerce.backoffice.options import EditableAdmin
from commerce.tenancy.scope import current_account_id


@admin.register(Account)
class AccountAdmin(EditableAdmin):
    """The account in scope. Its list page redirects to the account itself."""

    area = "accounts"
    rules = ACCOUNT
    actions_detail = ("suspend", "lift_suspension")
    readonly_fields = ("handle", "status", "created_at", "updated_at")
    fields = (
        ("handle", "status"),
        "name",
        ("default_currency", "default_locale", "default_timezone"),
        ("country_code", "vat_number"),
        "email_from",
        ("created_at", "updated_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        return super().get_queryset(request).filter(pk=current_account_id())

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_operator_permission(self, request: HttpRequest, obj: object = None) -> bool:
        membership = get_membership(request)
        return membership is not None and membership.is_operator

    def get_actions_detail(self, request: HttpRequest, object_id: int) -> list[UnfoldAction]:
        """Offer either to suspend or to lift the suspension, whichever applies."""
        # The membership, which is loaded on every request, knows the status: another query isn't needed.
        membership = get_membership(request)
        is_suspended = membership is not None and membership.status == Account.Status.SUSPENDED
        idle = "suspend" if is_suspended else "lift_suspension"
        return [action for action in super().get_actions_detail(request, object_id) if action.path != idle]

    def changelist_view(
        self, request: HttpRequest, extra_context: Mapping[str, object] | None = None
    ) -> HttpResponse:
        # Django's own list, which would check the permission, isn't called.
        if not self.has_view_permission(request):
            raise PermissionDenied
        return redirect("admin:accounts_account_change", current_account_id())

    def update_row(self, row: Account, changes: Mapping[str, object], now: datetime) -> Account:
        return operations.update_account(
            account_id=row.pk, expected_version=row.version, changes=changes, now=now
        )

    @dialog_action(
        gettext_lazy("Suspend"),
        description=gettext_lazy(
            "Its API and storefront answer 403 until the suspension is lifted. Staff can only view data."
        ),
        submit=gettext_lazy("Suspend"),
        icon="block",
        variant=ActionVariant.DANGER,
        permission="operator",
    )
    def suspend(self, request: HttpRequest, account: Account, fields: Mapping[str, object]) -> StrOrPromise:
        operations.set_suspended(account_id=account.pk, suspended=True, now=timezone.now())
        return gettext_lazy("The shop is suspended.")

    @dialog_action(
        gettext_lazy("Lift suspension"),
        description=gettext_lazy("The shop's keys work again."),
        submit=gettext_lazy("Lift"),
        icon="lock_open",
        permission="operator",
    )
    def lift_suspension(
        self, request: HttpRequest, account: Account, fields: Mapping[str, object]
    ) -> StrOrPromise:
        operations.set_suspended(account_id=account.pk, suspended=False, now=timezone.now())
        return gettext_lazy("The shop is active.")
