from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.forms import ModelForm
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from commerce.backoffice.bulk import WithBulkActions
from commerce.backoffice.display import LABEL_COLOURS, format_time, money_column
from commerce.backoffice.forms import RuledModelForm, read_all_values
from commerce.backoffice.history import name_actor
from commerce.backoffice.membership import may, require
from commerce.backoffice.options import EditableAdmin, ReadOnlyAdmin, copy_row
from commerce.backoffice.picks import PickField
from commerce.backoffice.ruled_fields import measure_column
from commerce.backoffice.wordings import translate
from commerce.errors import InsufficientScope, Refusal

from . import operations
from .amounts import find_discount_measure
from .bulk_actions import ARCHIVE_DISCOUNTS, DISABLE_DISCOUNTS, ENABLE_DISCOUNTS
from .errors import DiscountArchived
from .evaluation import CONFIG_COLUMNS, SHARED_COLUMN
from .field_rules import DISCOUNT
from .forms import DiscountForm
from .mechanics.gift_card import GiftCard
from .models import Discount, DiscountRedemption
from .picks import KINDS, list_visible, make_titles_column
from .registry import mechanics, mechanics_with_shared_column
from .shown_config import make_config_column
from .vouchers import admin as voucher_admin  # noqa: F401  Django looks for the pages of an app here


def _show_for(*values: str, of: str = "type", unless_empty: str = "") -> str:
    """Return the condition, in the page's JavaScript, for showing an input: `of` has one of the values.

    With `unless_empty`, the input is also shown while that one has a value. A page that can't be edited has no such
    variables, and shows everything.
    """
    names = ", ".join(f"'{value}'" for value in values)
    condition = f"typeof {of} === 'undefined' || [{names}].includes({of})"
    return f"{condition} || {unless_empty}" if unless_empty else condition


def _show_unless_hidden(name: str, *, unless_empty: str = "") -> str:
    types = [each.type for each in mechanics().values() if name not in each.hidden]
    return _show_for(*types, unless_empty=unless_empty)


def _show_for_people(fieldsets: Any, visible: frozenset[str]) -> Any:
    """Return the fieldsets with columns that name rows and explain settings, where nothing can be edited."""

    def choose(field: Any) -> Any:
        if isinstance(field, list | tuple):
            return [choose(each) for each in field]
        if field in CONFIG_COLUMNS:
            return make_config_column(field, visible)
        return make_titles_column(field, is_visible=field in visible) if field in KINDS else field

    return [(title, {**options, "fields": choose(options["fields"])}) for title, options in fieldsets]


@admin.register(Discount)
class DiscountAdmin(WithBulkActions, EditableAdmin):
    area = "discounts"
    form = DiscountForm
    rules = DISCOUNT
    find_measure = staticmethod(find_discount_measure)
    measured = ("value_amount",)
    together = (
        {"value_mode", "value_amount", "currency"},
        {"currency", "minimum_order_subtotal_cents"},
        {"currency", "bogo_config"},
        {"currency", "bulk_tiers"},
        {"currency", SHARED_COLUMN},
    )
    list_display = (
        "title",
        "code",
        "type",
        "value_mode",
        measure_column(Discount, "value_amount", find_discount_measure),
        "state",
        "usage_count",
        "starts_at",
        "ends_at",
    )
    list_filter = ("type", "status", "stackable")
    searches_beginnings = True
    search_fields = ("title", "code")
    bulk_actions = (ENABLE_DISCOUNTS, DISABLE_DISCOUNTS, ARCHIVE_DISCOUNTS)
    actions_detail = ("try_on_cart",)
    list_select_related = ("voucher",)
    readonly_fields = ("usage_count", "voucher", "created_at", "archived_at")
    add_fieldsets = (
        (
            None,
            {
                "fields": (
                    ("title", "type"),
                    ("code", "status"),
                    ("value_mode", "currency"),
                    "value_amount",
                    "bogo_config",
                    "bulk_tiers",
                    "starts_at",
                    "ends_at",
                    "stackable",
                )
            },
        ),
        (
            _("For whom"),
            {
                "fields": (
                    "minimum_order_subtotal_cents",
                    ("usage_limit_total", "usage_limit_per_customer"),
                    ("customer_eligibility", "first_order_only"),
                    "customer_tags",
                    "segment_ids",
                    "customer_ids",
                )
            },
        ),
        (_("On what"), {"fields": ("market_ids", "applies_to", "product_ids", "variant_ids")}),
    )
    fieldsets = (
        *add_fieldsets,
        (_("So far"), {"fields": (("usage_count", "voucher"), ("created_at", "archived_at"))}),
    )

    def prepare(self, form_class: type[RuledModelForm], request: HttpRequest) -> None:
        super().prepare(form_class, request)
        if issubclass(form_class, DiscountForm):
            form_class.visible = list_visible(request)

    # A property, because the types are a setting of the installation.
    @property
    def conditional_fields(self) -> dict[str, str]:
        return {
            "code": _show_unless_hidden("code", unless_empty="code"),
            "value_mode": _show_unless_hidden("value_mode"),
            "value_amount": _show_unless_hidden("value_amount"),
            "applies_to": _show_unless_hidden("applies_to"),
            "product_ids": _show_unless_hidden("product_ids", unless_empty="product_ids"),
            "variant_ids": _show_unless_hidden("variant_ids", unless_empty="variant_ids"),
            "customer_tags": _show_for("tagged", of="customer_eligibility", unless_empty="customer_tags"),
            "segment_ids": _show_for("segments", of="customer_eligibility", unless_empty="segment_ids"),
            "customer_ids": _show_for("specific", of="customer_eligibility", unless_empty="customer_ids"),
            **{
                name: _show_for(*(each.type for each in mechanics().values() if each.column == name))
                for name in CONFIG_COLUMNS
            },
        }

    def get_fieldsets(self, request: HttpRequest, obj: Discount | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if mechanics_with_shared_column():
            (title, first), *others = fieldsets
            names = [*first["fields"]]
            names.insert(names.index("bulk_tiers") + 1, SHARED_COLUMN)
            fieldsets = ((title, first | {"fields": tuple(names)}), *others)
        if self.has_change_permission(request, obj):
            return fieldsets
        return _show_for_people(fieldsets, list_visible(request))

    @display(description=_("Status"), ordering="status", label=LABEL_COLOURS)
    def state(self, discount: Discount) -> tuple[str, str]:
        status = discount.effective_status(timezone.now())
        return status.value, translate(status.label)

    def formfield_for_dbfield(
        self, db_field: models.Field, request: HttpRequest, **kwargs: object
    ) -> forms.Field | None:
        if db_field.name in KINDS:
            return PickField(label=capfirst(db_field.verbose_name))
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name == "value_amount":
            # The column's own text is about basis points and cents.
            field.help_text = _("A percentage, or an amount in the currency, by the value mode")
        return field

    def formfield_for_choice_field(
        self, db_field: models.Field, request: HttpRequest, **kwargs: Any
    ) -> forms.Field:
        if db_field.name == "status":
            # Archiving is an action, because it can't be undone and also ends a gift card.
            kwargs["choices"] = [
                (status, translate(status.label)) for status in Discount.Status if status != "archived"
            ]
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Discount]:
        discounts = super().get_queryset(request)
        # The discount of a gift card has the card's code, which is worth money.
        return discounts if may(request, "read_vouchers") else discounts.exclude(type=GiftCard.type)

    def refusal_to_change(self, request: HttpRequest, row: Discount) -> Refusal | None:
        if row.type == GiftCard.type and not may(request, "write_vouchers"):
            return InsufficientScope("Your role in this shop doesn't allow to change gift cards.")
        if row.status != Discount.Status.ARCHIVED:
            return None
        when = f" on {format_time(row.archived_at)}" if row.archived_at else ""
        return DiscountArchived(f"Nothing was saved: the discount was archived{when}.")

    @action(description=_("Try it on a cart"), permissions=["view"], icon="percent")
    def try_on_cart(self, request: HttpRequest, object_id: str) -> HttpResponse:
        if self.get_object(request, object_id) is None:
            raise Http404
        # By its name: the page belongs to checkouts, which discounts must not import.
        return HttpResponseRedirect(
            f"{reverse('admin:checkouts_checkout_try_discounts')}?discount={object_id}"
        )

    def save_model(self, request: HttpRequest, obj: models.Model, form: ModelForm, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        if form.cleaned_data["type"] == GiftCard.type:
            require(request, "write_vouchers")
        saved = operations.create_discount(
            fields=read_all_values(form), actor=name_actor(request), now=timezone.now()
        )
        # Django uses its own instance afterwards, for the log and the redirect.
        copy_row(saved, obj)

    def update_row(self, row: Discount, changes: Mapping[str, object], now: datetime) -> Discount:
        return operations.update_discount(discount_id=row.pk, changes=changes)


@admin.register(DiscountRedemption)
class DiscountRedemptionAdmin(ReadOnlyAdmin):
    area = "discounts"
    list_display = (
        "created_at",
        "discount",
        "code",
        "kind",
        money_column("amount_cents", _("Amount")),
        "order",
        "customer_email",
    )
    list_filter = ("kind", "created_at")
    list_select_related = ("discount", "order")
    searches_beginnings = True
    search_fields = ("discount__code", "customer_email")
    search_help_text = _("Beginning of the code or email")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("created_at", "kind"),
                    ("discount", "code"),
                    (money_column("amount_cents", _("Amount")), "currency"),
                    ("order", "checkout_id"),
                    ("customer", "customer_email"),
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[DiscountRedemption]:
        redemptions = super().get_queryset(request)
        return (
            redemptions
            if may(request, "read_vouchers")
            else redemptions.exclude(discount__type=GiftCard.type)
        )
