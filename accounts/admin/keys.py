from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminSplitDateTimeVerticalWidget,
    UnfoldAdminTextInputWidget,
)

from accounts import operations, queries
from accounts.admin.grantors import get_grantor
from accounts.admin.scopes import join_titles, list_choices
from accounts.models import ApiKey
from accounts.rules import MAX_GRACE_S, MAX_NAME
from commerce.backoffice.dialogs import dialog_action, show_secret
from commerce.backoffice.display import StrOrPromise
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.backoffice.summaries import LogSentence
from commerce.principal import SCOPES
from commerce.tenancy.scope import current_account_id
from commerce.wording import mark

_ROTATED = LogSentence("rotated; its successor is {key}")


class IssueForm(BaseDialogForm):
    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        # Workspace keys can't be issued from an account.
        choices=[
            (ApiKey.Kind.ADMIN, gettext_lazy("Admin")),
            (ApiKey.Kind.STOREFRONT, gettext_lazy("Storefront")),
        ],
        widget=UnfoldAdminSelectWidget,
    )
    name = forms.CharField(label=gettext_lazy("Name"), max_length=MAX_NAME, widget=UnfoldAdminTextInputWidget)
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Scopes (none selected means all; hold Ctrl to select several)"),
        required=False,
        choices=list_choices(SCOPES),
        widget=UnfoldAdminSelectMultipleWidget(attrs={"size": 8}),
    )
    expires_at = forms.SplitDateTimeField(
        label=gettext_lazy("Expires at"),
        required=False,
        widget=UnfoldAdminSplitDateTimeVerticalWidget(
            date_attrs={"aria-label": gettext_lazy("Expires on (date)")},
            time_attrs={"aria-label": gettext_lazy("Expires at (time)")},
        ),
    )


class RotationForm(BaseDialogForm):
    grace_seconds = forms.IntegerField(
        label=gettext_lazy("Seconds for which the old key still works"),
        min_value=0,
        max_value=MAX_GRACE_S,
        initial=0,
        widget=UnfoldAdminIntegerFieldWidget,
    )


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    area = "api_keys"
    list_display = ("name", "kind", "prefix", "is_live", "created_at", "expires_at", "last_used_at")
    list_filter = ("kind", ("revoked_at", admin.EmptyFieldListFilter))
    search_fields = ("name", "prefix")
    actions = ()
    actions_list = ("issue",)
    actions_detail = ("rotate", "revoke")
    fields = (
        ("name", "kind", "prefix"),
        "scope_titles",
        ("created_at", "expires_at", "last_used_at", "revoked_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        return super().get_queryset(request).filter(account_id=current_account_id()).defer("secret_hash")

    @display(description=gettext_lazy("Scopes"))
    def scope_titles(self, key: ApiKey) -> str:
        return join_titles(key.scopes) or gettext("All")

    @display(description=gettext_lazy("Live"), boolean=True)
    def is_live(self, key: ApiKey) -> bool:
        return key.is_live(timezone.now())

    @dialog_action(
        gettext_lazy("Issue a key"),
        description=gettext_lazy("Its secret is shown only once, here."),
        submit=gettext_lazy("Issue the key"),
        form_class=IssueForm,
        icon="add",
    )
    def issue(self, request: HttpRequest, row: None, fields: dict[str, Any]) -> HttpResponse:
        account = queries.current_account()
        issued = operations.issue_key(
            issuer=_issuer_of(request),
            now=timezone.now(),
            workspace_id=account.workspace_id,
            account_id=account.pk,
            kind=fields["kind"],
            name=fields["name"],
            scopes=fields["scopes"],
            expires_at=fields["expires_at"],
        )
        self.log_addition(request, issued.key, mark("issued"))
        return show_secret(request, name=issued.key.name, secret=issued.secret)

    @dialog_action(
        gettext_lazy("Rotate"),
        description=gettext_lazy("Replaces the key with a new one. The secret is shown only once, here."),
        submit=gettext_lazy("Rotate"),
        form_class=RotationForm,
        icon="autorenew",
    )
    def rotate(self, request: HttpRequest, key: ApiKey, fields: dict[str, Any]) -> HttpResponse:
        issued = operations.rotate_key(
            issuer=_issuer_of(request),
            key_id=key.pk,
            grace_seconds=fields["grace_seconds"],
        )
        self.log_change(request, key, _ROTATED.fill(key=issued.key.pk))
        return show_secret(request, name=issued.key.name, secret=issued.secret)

    @dialog_action(
        gettext_lazy("Revoke"),
        description=gettext_lazy("The key stops working at once. This can't be undone."),
        submit=gettext_lazy("Revoke"),
        icon="key_off",
        variant=ActionVariant.DANGER,
    )
    def revoke(self, request: HttpRequest, key: ApiKey, fields: Mapping[str, object]) -> StrOrPromise:
        operations.revoke_key(issuer=_issuer_of(request), key_id=key.pk, now=timezone.now())
        return gettext_lazy("The key has been revoked.")


def _issuer_of(request: HttpRequest) -> operations.Issuer:
    """A member issues keys with their own scopes at most; an owner's or an operator's may do anything."""
    grantor = get_grantor(request)
    if grantor.is_owner:
        return operations.OWNER
    return operations.Issuer("admin", scopes=grantor.scopes & frozenset(SCOPES))
