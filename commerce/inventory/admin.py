from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import StrOrPromise
from commerce.backoffice.grids import WithGrids
from commerce.backoffice.inlines import ReadOnlyRows
from commerce.backoffice.names import list_labels
from commerce.backoffice.options import EditableAdmin, ReadOnlyAdmin
from commerce.backoffice.summaries import LogSentence
from commerce.catalog.models import Variant
from commerce.catalog.variant_numbers import Kind, register_variant_numbers

from . import operations
from .models import InventoryAdjustment, InventoryLevel, Location
from .rules import LOCATION, MAX_DELTA
from .stock_filter import StockFilter
from .stock_grid import StockGrid

_ADJUSTED = LogSentence("Stock changed by {delta}; {units} on hand.")

register_variant_numbers(
    Kind(
        grid=StockGrid,
        area="inventory",
        prefix=_("Stock: "),
        options={"reason": InventoryAdjustment.Reason.CORRECTION},
    )
)


@admin.register(Location)
class LocationAdmin(EditableAdmin):
    area = "inventory"
    rules = LOCATION
    list_display = ("name", "handle", "priority", "is_active")
    list_filter = ("is_active",)
    search_fields = ("name", "handle")
    ordering = ("priority", "pk")
    fields = ("handle", "name", "priority", "is_active")

    def create_row(self, fields: Mapping[str, object], now: datetime) -> Location:
        return operations.create_location(fields=fields)

    def update_row(self, row: Location, changes: Mapping[str, object], now: datetime) -> Location:
        return operations.update_location(location_id=row.pk, changes=changes)


class AdjustmentForm(BaseDialogForm):
    delta = forms.IntegerField(
        label=_("Change in units (negative to remove)"),
        min_value=-MAX_DELTA,
        max_value=MAX_DELTA,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    reason = forms.ChoiceField(
        label=_("Reason"), choices=list_labels(InventoryAdjustment.Reason), widget=UnfoldAdminSelectWidget
    )


class StockingForm(AdjustmentForm):
    """Adjusts a level that may not exist yet: the form asks for its variant and location as well."""

    variant = forms.CharField(label="SKU", max_length=64, widget=UnfoldAdminTextInputWidget)
    location: forms.ModelChoiceField = forms.ModelChoiceField(
        label=_("Location"), queryset=None, widget=UnfoldAdminSelectWidget
    )
    field_order = ("variant", "location", "delta", "reason")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        # Here rather than in the class, which is made before any account is in scope.
        self.fields["location"].queryset = Location.objects.order_by("priority", "pk")

    def clean_variant(self) -> Variant:
        # Archived variants may have the same SKU.
        variant = Variant.objects.filter(sku=self.cleaned_data["variant"], archived_at__isnull=True).first()
        if variant is None:
            raise forms.ValidationError(_("No variant of this shop has this SKU."))
        return variant


class AdjustmentRows(ReadOnlyRows):
    model = InventoryAdjustment
    hide_title = True
    ordering = ("-pk",)
    per_page = 20
    fields = ("created_at", "delta", "reason", "on_hand_after")


@admin.register(InventoryLevel)
class InventoryLevelAdmin(WithGrids, ReadOnlyAdmin):
    area = "inventory"
    # Without forms: units change by adjustments, which are recorded, and by checkouts and orders.
    list_display = ("variant", "product", "location", "on_hand", "reserved", "committed", "free_units")
    list_filter = (StockFilter, "location", "allow_backorder")
    list_select_related = ("variant__product", "location")
    searches_beginnings = True
    search_fields = ("variant__sku", "variant__product__title")
    search_help_text = _("Beginning of the SKU or of the product's title")
    inlines = (AdjustmentRows,)
    fields = (
        "variant",
        "location",
        "on_hand",
        "reserved",
        "committed",
        "free_units",
        "allow_backorder",
        "updated_at",
    )
    actions_detail = ("adjust",)
    grids = (StockGrid,)
    actions_list = ("open_grid", "stock")

    def get_queryset(self, request: HttpRequest) -> QuerySet[InventoryLevel]:
        # The model's property can't be sorted by.
        return super().get_queryset(request).annotate(free=F("on_hand") - F("reserved") - F("committed"))

    @display(description=_("Product"), ordering="variant__product__title")
    def product(self, level: InventoryLevel) -> str:
        return level.variant.product.title

    @display(description=_("Available"), ordering="free")
    def free_units(self, level: InventoryLevel) -> int:
        return level.available

    @action(description=_("Edit stock"), permissions=["view"], icon="grid_on")
    def open_grid(self, request: HttpRequest) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:inventory_inventorylevel_grid"))

    @dialog_action(
        _("Adjust stock"),
        description=_("Changes the units on hand. They must still cover what is reserved and committed."),
        submit=_("Adjust"),
        form_class=AdjustmentForm,
        icon="swap_vert",
    )
    def adjust(self, request: HttpRequest, level: InventoryLevel, fields: dict[str, object]) -> StrOrPromise:
        return _adjust(level.variant_id, level.location_id, fields)

    @dialog_action(
        _("Add stock"),
        description=_("Changes the units of a variant at a location, even if it has none there yet."),
        submit=_("Adjust"),
        form_class=StockingForm,
        icon="add",
    )
    def stock(self, request: HttpRequest, row: None, fields: dict[str, Any]) -> StrOrPromise:
        return _adjust(fields["variant"].pk, fields["location"].pk, fields)


def _adjust(variant_id: int, location_id: int, fields: dict[str, Any]) -> StrOrPromise:
    level = operations.adjust_level(
        variant_id=variant_id,
        location_id=location_id,
        delta=fields["delta"],
        reason=fields["reason"],
        now=timezone.now(),
    )
    return _ADJUSTED.fill(delta=f"{fields['delta']:+}", units=level.on_hand)


@admin.register(InventoryAdjustment)
class InventoryAdjustmentAdmin(ReadOnlyAdmin):
    area = "inventory"
    list_display = ("created_at", "variant", "location", "delta", "reason", "on_hand_after")
    list_filter = ("reason", "created_at")
    list_select_related = ("level__variant", "level__location")
    searches_beginnings = True
    search_fields = ("level__variant__sku",)
    search_help_text = _("Beginning of the SKU")
    fields = ("created_at", "level", "delta", "reason", "on_hand_after")

    @display(description=_("Variant"), ordering="level__variant__sku")
    def variant(self, adjustment: InventoryAdjustment) -> str:
        return adjustment.level.variant.sku

    @display(description=_("Location"), ordering="level__location__name")
    def location(self, adjustment: InventoryAdjustment) -> str:
        return adjustment.level.location.name
