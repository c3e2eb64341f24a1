"""The grid of stock: units on hand, variants by location."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget

from commerce.backoffice.grid_forms import Cell, Change, Column, Row
from commerce.backoffice.grids import MAX_COLUMNS, GridPage
from commerce.backoffice.measures import Count
from commerce.backoffice.names import list_labels
from commerce.backoffice.options import AccountModelAdmin
from commerce.catalog.models import Variant
from commerce.catalog.price_grid import ONLY_LIVE, list_ids, make_rows
from commerce.tenancy.locks import lock_now

from . import operations
from .levels import lock_levels
from .models import InventoryAdjustment, InventoryLevel, Location


class ReasonForm(forms.Form):
    reason = forms.ChoiceField(
        label=gettext_lazy("Reason"),
        choices=list_labels(InventoryAdjustment.Reason),
        initial=InventoryAdjustment.Reason.COUNT,
        widget=UnfoldAdminSelectWidget,
    )


class StockGrid(GridPage):
    """Its rows are variants, so it is a page of their list."""

    name = "grid"
    subject = "catalog.variant"
    filters = ONLY_LIVE
    title = gettext_lazy("Stock on hand")
    help_text = gettext_lazy("Units on hand. They must still cover what is reserved and committed.")

    def __init__(self, model_admin: AccountModelAdmin) -> None:
        variants: Any = admin.site.get_model_admin(Variant)
        super().__init__(variants)
        # Whoever may change products may not necessarily change stock.
        self.guard = model_admin

    def list_columns(self) -> list[Column]:
        found = Location.objects.order_by("priority", "pk")[:MAX_COLUMNS]
        return [
            Column(id=place.pk, title=place.name, detail="" if place.is_active else _("inactive"))
            for place in found
        ]

    def load(self, row_ids: list[int], columns: list[Column]) -> list[Row]:
        found = InventoryLevel.objects.filter(variant__in=row_ids, location__in=list_ids(columns))
        levels = {(level.variant_id, level.location_id): level for level in found}

        def make_cells(variant: Variant) -> list[Cell]:
            return [
                _make_cell(variant.pk, column.id, levels.get((variant.pk, column.id))) for column in columns
            ]

        return make_rows(row_ids, make_cells)

    def make_empty_cell(self, column: Column) -> Cell:
        return _make_cell(0, column.id, None)

    def lock(self, row_ids: list[int], columns: list[Column]) -> None:
        # A level that is added copies its variant's rule, so variants come first.
        lock_now(Variant.objects.filter(pk__in=row_ids))
        lock_levels(Q(variant__in=row_ids, location__in=list_ids(columns)))

    def save_cell(self, change: Change, data: Mapping[str, Any]) -> None:
        delta = (change.value or 0) - (change.cell.value or 0)
        if delta == 0:
            # Without a level there are 0 units, so 0 needs no new level.
            return
        operations.adjust_level(
            variant_id=change.cell.row_id,
            location_id=change.cell.column_id,
            delta=delta,
            reason=data["reason"],
            now=timezone.now(),
        )

    def make_options(self, data: Mapping[str, str] | None) -> forms.Form:
        return ReasonForm(data)


def _make_cell(variant_id: int, location_id: int, level: InventoryLevel | None) -> Cell:
    hint = ""
    if level is not None and (level.reserved or level.committed):
        hint = _("%(units)d reserved or committed") % {"units": level.reserved + level.committed}
    return Cell(
        row_id=variant_id,
        column_id=location_id,
        value=None if level is None else level.on_hand,
        measure=Count(),
        hint=hint,
    )
