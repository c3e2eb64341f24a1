from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminSplitDateTimeVerticalWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from accounts.queries import current_account
from commerce.backoffice.bulk import BulkAction, WithBulkActions
from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import StrOrPromise, format_money, label_column, money_column
from commerce.backoffice.history import name_actor
from commerce.backoffice.inlines import ReadOnlyRows
from commerce.backoffice.measure_fields import MeasureField, clean_currency
from commerce.backoffice.measures import Money
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.backoffice.wordings import translate
from commerce.rules import MAX_SAFE_INTEGER
from commerce.wording import mark
from discounts.models import Voucher, VoucherHold, VoucherPaymentAttempt, VoucherRedemption

from . import customer_section, operations  # noqa: F401  registers a part of a customer's page
from .codes import parse_voucher_code
from .rules import MAX_REASON
from .statuses import effective_status, matches_status


def _status_now(voucher: Voucher) -> str:
    return effective_status(voucher, timezone.now())


class VoucherRows(ReadOnlyRows):
    """Rows on a gift card's page. They have no currency of their own, and show the gift card's."""

    hide_title = True
    related: tuple[str, ...] = ("voucher",)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet:
        return super().get_queryset(request).select_related(*self.related)


class LedgerRows(VoucherRows):
    model = VoucherRedemption
    verbose_name_plural = _("Ledger")
    related = ("voucher", "order")
    fields = (
        "created_at",
        "kind",
        money_column("amount_cents", _("Amount"), currency="voucher.currency"),
        money_column("balance_after_cents", _("Balance after"), currency="voucher.currency"),
        "order",
        "actor",
    )


class HoldRows(VoucherRows):
    model = VoucherHold
    verbose_name_plural = _("Held by open checkouts")
    fields = (
        "created_at",
        "checkout_id",
        money_column("amount_cents", _("Amount"), currency="voucher.currency"),
    )


class AttemptRows(VoucherRows):
    model = VoucherPaymentAttempt
    verbose_name_plural = _("Payment attempts")
    fields = (
        "created_at",
        "status",
        "failure_code",
        money_column("amount_cents", _("Amount"), currency="voucher.currency"),
        "order_id",
        "checkout_id",
        "actor",
    )


class IssueForm(BaseDialogForm):
    initial_balance_cents = MeasureField(
        label=_("Balance"), measure=Money(""), min_value=1, max_value=MAX_SAFE_INTEGER
    )
    currency = forms.CharField(label=_("Currency"), max_length=3, widget=UnfoldAdminTextInputWidget)
    recipient_email = forms.EmailField(
        label=_("Recipient email"), required=False, max_length=254, widget=UnfoldAdminEmailInputWidget
    )
    send_email = forms.BooleanField(
        label=_("Send it to the recipient"), required=False, widget=UnfoldBooleanWidget
    )
    expires_at = forms.SplitDateTimeField(
        label=_("Expires at"),
        required=False,
        widget=UnfoldAdminSplitDateTimeVerticalWidget(
            date_attrs={"aria-label": _("Expires on (date)")},
            time_attrs={"aria-label": _("Expires at (time)")},
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Here rather than in the class, which is made before any account is in scope.
        self.fields["currency"].initial = current_account().default_currency
        balance = self.fields["initial_balance_cents"]
        balance.measure = Money(clean_currency(self.data.get("currency")))


class RevokeForm(BaseDialogForm):
    reason = forms.CharField(label=_("Reason"), max_length=MAX_REASON, widget=UnfoldAdminTextareaWidget)


class StatusFilter(admin.SimpleListFilter):
    """Filters by the effective status: the stored one lags behind when a gift card expires."""

    title = _("status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [(status.value, translate(status.label)) for status in Voucher.Status]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet) -> models.QuerySet:
        value = self.value()
        return queryset if value is None else queryset.filter(matches_status(value, timezone.now()))


_GIFT_CARD_IS = {
    Voucher.Status.DEPLETED: _("The gift card is depleted."),
    Voucher.Status.DISABLED: _("The gift card is disabled."),
    Voucher.Status.EXPIRED: _("The gift card is expired."),
    Voucher.Status.REVOKED: _("The gift card is revoked."),
}
# The end of a code, by which people tell gift cards apart.
SHOWN_CHARACTERS = 4


def _end(row: Voucher, *, now: datetime, **_rest: object) -> None:
    operations.disable_voucher(voucher_id=row.pk, now=now)


DISABLE_GIFT_CARDS = BulkAction(
    name="disable",
    title=_("Disable the selected gift cards"),
    help_text=_("They can't be used for payment any more. This can't be undone."),
    submit=_("Disable the gift cards"),
    done=mark("disabled"),
    run=_end,
    describe=lambda voucher: format_money(voucher.balance_cents, voucher.currency),
    is_done=lambda voucher: voucher.status == Voucher.Status.DISABLED,
    is_dangerous=True,
)


@admin.register(Voucher)
class VoucherAdmin(WithBulkActions, ReadOnlyAdmin):
    area = "vouchers"
    bulk_actions = (DISABLE_GIFT_CARDS,)
    list_display = (
        "code",
        label_column("status", _("Status"), value_of=_status_now),
        money_column("balance_cents", _("Balance")),
        money_column("initial_balance_cents", _("Issued with")),
        "recipient_email",
        "expires_at",
    )
    list_filter = (StatusFilter, "created_at")
    searches_beginnings = True
    search_fields = ("code", "recipient_email")
    search_help_text = _("Code in any form, its last four characters, or beginning of the email")
    inlines = (LedgerRows, HoldRows, AttemptRows)
    actions_list = ("issue",)
    actions_detail = ("resend", "disable", "revoke")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("code", "status_now"),
                    (
                        money_column("balance_cents", _("Balance")),
                        money_column("available_cents", _("Available")),
                        money_column("initial_balance_cents", _("Issued with")),
                    ),
                    ("recipient_email", "order"),
                    ("created_at", "expires_at", "last_redeemed_at"),
                    ("disabled_at", "revoked_at", "revocation_reason"),
                )
            },
        ),
    )

    def get_search_results(
        self, request: HttpRequest, queryset: models.QuerySet[Voucher], search_term: str
    ) -> tuple[models.QuerySet[Voucher], bool]:
        # A code is found in any spelling, and by the index on codes.
        code = parse_voucher_code(search_term)
        if code is not None:
            return queryset.filter(code=code), False
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        end = search_term.strip().upper()
        if len(end) == SHOWN_CHARACTERS and end.isalnum():
            # People read out the end of a code. No index has it, so all gift cards are read.
            found = found | queryset.filter(code__endswith=end)
        return found, may_repeat

    @display(description=_("Status"))
    def status_now(self, voucher: Voucher) -> str:
        return translate(Voucher.Status(_status_now(voucher)).label)

    @dialog_action(
        _("Issue a gift card"),
        description=_("Creates a code with a balance."),
        submit=_("Issue the gift card"),
        form_class=IssueForm,
        icon="add_card",
    )
    def issue(self, request: HttpRequest, row: None, fields: dict[str, Any]) -> str:
        issued = operations.issue_voucher(
            initial_balance_cents=fields["initial_balance_cents"],
            currency=fields["currency"],
            recipient_email=fields["recipient_email"] or None,
            expires_at=fields["expires_at"],
            send_email=fields["send_email"],
            actor=name_actor(request),
            now=timezone.now(),
        )
        self.log_addition(request, issued, mark("issued"))
        return _("Gift card %(code)s has been issued.") % {"code": issued.code}

    @dialog_action(
        _("Send again"),
        description=_("Emails the code to the recipient again."),
        submit=_("Send"),
        icon="mail",
    )
    def resend(self, request: HttpRequest, voucher: Voucher, fields: Mapping[str, object]) -> StrOrPromise:
        operations.resend_voucher(voucher_id=voucher.pk, now=timezone.now())
        return _("The gift card will be emailed to its recipient.")

    @dialog_action(
        _("Disable"),
        description=_("The gift card can't be used for payment any more. This can't be undone."),
        submit=_("Disable the gift card"),
        icon="block",
        variant=ActionVariant.WARNING,
    )
    def disable(self, request: HttpRequest, voucher: Voucher, fields: Mapping[str, object]) -> StrOrPromise:
        disabled = operations.disable_voucher(voucher_id=voucher.pk, now=timezone.now())
        return _GIFT_CARD_IS[Voucher.Status(disabled.status)]

    @dialog_action(
        _("Revoke"),
        description=_("For fraud. This can't be undone."),
        submit=_("Revoke the gift card"),
        form_class=RevokeForm,
        icon="gpp_bad",
        variant=ActionVariant.DANGER,
    )
    def revoke(self, request: HttpRequest, voucher: Voucher, fields: dict[str, Any]) -> StrOrPromise:
        operations.revoke_voucher(voucher_id=voucher.pk, reason=fields["reason"], now=timezone.now())
        return _("The gift card has been revoked.")


@admin.register(VoucherRedemption)
class VoucherRedemptionAdmin(ReadOnlyAdmin):
    area = "vouchers"
    list_display = (
        "created_at",
        "code",
        "kind",
        money_column("amount_cents", _("Amount"), currency="voucher.currency"),
        money_column("balance_after_cents", _("Balance after"), currency="voucher.currency"),
        "order",
        "actor",
    )
    list_filter = ("kind", "created_at")
    list_select_related = ("voucher", "order")
    searches_beginnings = True
    search_fields = ("voucher__code",)
    search_help_text = _("Beginning of the gift card's code")
    fields = (
        "created_at",
        "voucher",
        "kind",
        money_column("amount_cents", _("Amount"), currency="voucher.currency"),
        money_column("balance_after_cents", _("Balance after"), currency="voucher.currency"),
        "order",
        "checkout_id",
        "actor",
    )

    @display(description=_("Gift card"), ordering="voucher__code")
    def code(self, entry: VoucherRedemption) -> str:
        return entry.voucher.code
