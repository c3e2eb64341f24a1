from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils import timezone
from rest_framework import serializers
from unfold.decorators import display
from unfold.forms import BaseDialogForm
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSplitDateTimeVerticalWidget,
    UnfoldAdminTextInputWidget,
)

from accounts.models import Market
from commerce.backoffice.dialogs import asking
from commerce.backoffice.display import label_column, money_column
from commerce.backoffice.export import export_as_csv
from commerce.backoffice.options import EditableAdmin, ReadOnlyAdmin, ReadOnlyRows
from commerce.catalog.models import Product, Variant
from commerce.customers.models import Customer, Segment
from commerce.rest import fields as rest
from commerce.rest.shapes import Input

from . import operations
from .models import Discount, Voucher, VoucherRedemption

_REFERRED: dict[str, type[models.Model]] = {
    "product_ids": Product,
    "variant_ids": Variant,
    "market_ids": Market,
    "segment_ids": Segment,
    "customer_ids": Customer,
}
_OFFERED_TYPES = (
    Discount.Type.DISCOUNT_CODE,
    Discount.Type.AUTOMATIC_DISCOUNT,
    Discount.Type.SHIPPING_DISCOUNT,
)
_IN_MONEY = (Discount.ValueMode.FIXED_AMOUNT, Discount.ValueMode.SET_PRICE)


class DiscountRules(Input):
    code = rest.TextField(required=False, max_length=64)
    currency = rest.CurrencyField(required=False)
    value_amount = rest.IntegerField(required=False)
    minimum_order_subtotal_cents = rest.CentsField(required=False)

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        sent = self.initial_data
        if sent.get("type") == Discount.Type.DISCOUNT_CODE and "code" not in fields:
            raise serializers.ValidationError({"code": "A discount code needs a code."})
        if sent.get("value_mode") in _IN_MONEY and "currency" not in fields:
            raise serializers.ValidationError({"currency": "An amount of money needs a currency."})
        unknown = {
            name: "Names something that is not in this shop."
            for name, model in _REFERRED.items()
            if _names_unknown(model, sent.get(name, []))
        }
        if unknown:
            raise serializers.ValidationError(unknown)
        return fields


def _names_unknown(model: type[models.Model], ids: list[int]) -> bool:
    return bool(ids) and model._default_manager.filter(pk__in=ids).count() < len(set(ids))


@admin.register(Discount)
class DiscountAdmin(EditableAdmin):
    rules = DiscountRules
    list_display = (
        "title",
        "code",
        "type",
        "value_mode",
        "value_amount",
        "currency",
        label_column("status", "Status"),
        "starts_at",
        "ends_at",
    )
    list_filter = ("type", "status", "stackable")
    search_fields = ("title", "code")
    actions = ("archive", export_as_csv)
    readonly_fields = ("bogo_config", "bulk_tiers", "created_at", "archived_at")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("title", "type"),
                    ("code", "status"),
                    ("value_mode", "value_amount", "currency"),
                    ("applies_to", "stackable"),
                    ("starts_at", "ends_at"),
                )
            },
        ),
        (
            "For whom",
            {
                "fields": (
                    ("minimum_order_subtotal_cents", "usage_limit_total", "usage_limit_per_customer"),
                    ("customer_eligibility", "first_order_only"),
                    "customer_tags",
                    ("segment_ids", "customer_ids"),
                )
            },
        ),
        (
            "On what",
            {"fields": ("market_ids", ("product_ids", "variant_ids"), ("bogo_config", "bulk_tiers"))},
        ),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Discount | None = None) -> tuple[str, ...]:
        return (*self.readonly_fields, "type") if obj else self.readonly_fields

    def formfield_for_choice_field(
        self, db_field: models.Field, request: HttpRequest, **kwargs: Any
    ) -> forms.Field:
        if db_field.name == "type":
            kwargs["choices"] = [(offered, offered.label) for offered in _OFFERED_TYPES]
        if db_field.name == "status":
            kwargs["choices"] = [(status, status.label) for status in Discount.Status if status != "archived"]
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        is_archived = isinstance(obj, Discount) and obj.status == Discount.Status.ARCHIVED
        return super().has_change_permission(request, obj) and not is_archived

    @admin.action(description="Archive the selected discounts", permissions=["write"])
    def archive(self, request: HttpRequest, queryset: models.QuerySet[Discount]) -> None:
        now = timezone.now()
        self.act_on_each(
            request, queryset, lambda row: operations.archive_discount(discount=row, now=now), "archived"
        )

    def create_row(self, fields: dict[str, Any], now: datetime) -> Discount:
        return operations.create_discount(fields=fields)

    def update_row(self, row: Discount, changes: dict[str, Any], now: datetime) -> Discount:
        return operations.update_discount(discount=row, changes=changes)


class LedgerRows(ReadOnlyRows):
    model = VoucherRedemption
    verbose_name_plural = "Ledger"
    hide_title = True
    fields = (
        "created_at",
        "kind",
        money_column("amount_cents", "Amount", currency="voucher.currency"),
        money_column("balance_after_cents", "Balance after", currency="voucher.currency"),
        "order",
        "actor",
    )

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[VoucherRedemption]:
        return super().get_queryset(request).select_related("voucher", "order")


class IssueForm(BaseDialogForm):
    initial_balance_cents = forms.IntegerField(
        label="Balance in minor units",
        min_value=1,
        max_value=rest.MAX_SAFE_INTEGER,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    currency = forms.CharField(max_length=3, widget=UnfoldAdminTextInputWidget)
    recipient_email = forms.EmailField(required=False, max_length=254, widget=UnfoldAdminEmailInputWidget)
    expires_at = forms.SplitDateTimeField(required=False, widget=UnfoldAdminSplitDateTimeVerticalWidget)

    def clean_currency(self) -> str:
        try:
            return rest.CurrencyField().run_validation(self.cleaned_data["currency"])
        except serializers.ValidationError as error:
            raise forms.ValidationError([str(detail) for detail in error.detail]) from None

    def clean_expires_at(self) -> datetime | None:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= timezone.now():
            raise forms.ValidationError("The gift card would never be valid.")
        return expires_at


@admin.register(Voucher)
class VoucherAdmin(ReadOnlyAdmin):
    list_display = (
        "code",
        label_column("status", "Status"),
        money_column("balance_cents", "Balance"),
        money_column("initial_balance_cents", "Issued with"),
        "recipient_email",
        "expires_at",
    )
    list_filter = ("status", "created_at")
    search_fields = ("code", "recipient_email")
    inlines = (LedgerRows,)
    actions_list = ("issue",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("code", "status"),
                    (
                        money_column("balance_cents", "Balance"),
                        money_column("initial_balance_cents", "Issued with"),
                    ),
                    ("recipient_email", "order"),
                    ("created_at", "expires_at", "last_redeemed_at"),
                    ("disabled_at", "revoked_at"),
                )
            },
        ),
    )

    @asking(
        "Issue a gift card",
        description="A new code with a balance.",
        submit="Issue",
        form_class=IssueForm,
        icon="add_card",
    )
    def issue(self, request: HttpRequest, row: None, fields: dict[str, Any]) -> str:
        issued = operations.issue_voucher(
            initial_balance_cents=fields["initial_balance_cents"],
            currency=fields["currency"],
            recipient_email=fields["recipient_email"] or None,
            expires_at=fields["expires_at"],
            actor=f"staff:{request.user.get_username()}",
            now=timezone.now(),
        )
        self.log_addition(request, issued, "issued")
        return f"Gift card {issued.code} is issued."


@admin.register(VoucherRedemption)
class VoucherRedemptionAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        "code",
        "kind",
        money_column("amount_cents", "Amount", currency="voucher.currency"),
        money_column("balance_after_cents", "Balance after", currency="voucher.currency"),
        "order",
        "actor",
    )
    list_filter = ("kind", "created_at")
    list_select_related = ("voucher", "order")
    search_fields = ("voucher__code",)
    search_help_text = "Code of the gift card"
    fields = (
        "created_at",
        "voucher",
        "kind",
        "amount_cents",
        "balance_after_cents",
        "order",
        "checkout_id",
        "actor",
    )

    @display(description="Gift card", ordering="voucher__code")
    def code(self, entry: VoucherRedemption) -> str:
        return entry.voucher.code
