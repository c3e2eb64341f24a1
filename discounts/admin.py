from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils import timezone
from rest_framework import serializers

from accounts.models import Market
from commerce.backoffice.display import label_column
from commerce.backoffice.export import export_as_csv
from commerce.backoffice.options import EditableAdmin
from commerce.catalog.models import Product, Variant
from commerce.customers.models import Customer, Segment
from commerce.rest import fields as rest
from commerce.rest.shapes import Input

from . import operations
from .models import Discount
from .vouchers import admin as voucher_admin  # noqa: F401  Django looks for the pages of an app here

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
