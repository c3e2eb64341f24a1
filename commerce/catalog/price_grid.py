"""The grid of prices: variants by market."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from commerce.backoffice.grid_forms import Cell, Change, Column, Row
from commerce.backoffice.grids import MAX_COLUMNS, GridPage
from commerce.backoffice.measures import Money, NamedMoney
from commerce.errors import ValidationFailed
from commerce.tenancy.locks import lock, lock_now

from . import operations
from .models import Product, Variant, VariantPricing

# By name, because accounts imports the catalog.
Market: Any = VariantPricing._meta.get_field("market").related_model

# The filter of the list of variants that leaves out archived ones.
ONLY_LIVE = MappingProxyType({"archived_at__isempty": "1"})


class PriceGrid(GridPage):
    name = "prices"
    subject = "catalog.variant"
    title = _("Prices")
    help_text = _("Each price is in the currency of its market, unless another is shown.")
    filters = ONLY_LIVE
    # The column of a price that the grid shows.
    amount = "price_cents"

    def list_columns(self) -> list[Column]:
        found = Market.objects.order_by("pk").values_list("pk", "name", "currency")[:MAX_COLUMNS]
        return [Column(id=pk, title=name, detail=currency) for pk, name, currency in found]

    def load(self, row_ids: list[int], columns: list[Column]) -> list[Row]:
        found = VariantPricing.objects.filter(variant__in=row_ids, market__in=list_ids(columns))
        self.prices = {(price.variant_id, price.market_id): price for price in found}
        return make_rows(row_ids, lambda variant: [self._make_cell(variant, column) for column in columns])

    def _make_cell(self, variant: Variant, column: Column) -> Cell:
        price = self.prices.get((variant.pk, column.id))
        currency = column.detail if price is None else price.currency
        is_usual = currency == column.detail
        return Cell(
            row_id=variant.pk,
            column_id=column.id,
            value=None if price is None else getattr(price, self.amount),
            measure=Money(currency) if is_usual else NamedMoney(currency),
            is_fixed=price is None and self.amount != "price_cents",
        )

    def make_empty_cell(self, column: Column) -> Cell:
        return Cell(row_id=0, column_id=column.id, value=None, measure=Money(column.detail))

    def lock(self, row_ids: list[int], columns: list[Column]) -> None:
        # New prices lock the products, to measure them.
        products = Product.objects.filter(pk__in=Variant.objects.filter(pk__in=row_ids).values("product"))
        lock_now(products)
        list(lock(Variant.objects.filter(pk__in=row_ids).order_by("pk")).values_list("pk"))
        lock_now(VariantPricing.objects.filter(variant__in=row_ids, market__in=list_ids(columns)))

    def save_cell(self, change: Change, data: Mapping[str, Any]) -> None:
        row_id, market_id = change.cell.row_id, change.cell.column_id
        stored = self.prices.get((row_id, market_id))
        # The operation sets the whole price, so it needs the other columns as they are.
        names = ("currency", "price_cents", "compare_at_price_cents")
        fields = {} if stored is None else {name: getattr(stored, name) for name in names}
        fields |= {"market_id": market_id, self.amount: change.value}
        if fields["price_cents"] is None:
            raise ValidationFailed.of("price_cents", "required", "A price can't be removed.")
        operations.set_pricing(variant_id=row_id, fields=fields)


class ComparedPriceGrid(PriceGrid):
    name = "compared-prices"
    title = _("Compare-at prices")
    help_text = _(
        "The price that customers see beside the current one, such as before a sale. Empty for none."
    )
    amount = "compare_at_price_cents"
    may_be_emptied = True


def make_rows(row_ids: list[int], make_cells: Callable[[Variant], list[Cell]]) -> list[Row]:
    """Make the rows of a grid of variants, in the order of their ids. Archived ones are left out."""
    variants = Variant.objects.select_related("product").in_bulk(row_ids)
    return [
        Row(
            id=variant.pk,
            title=variant.sku,
            detail=" · ".join(filter(None, (variant.product.title, variant.title))),
            link=reverse("admin:catalog_variant_change", args=[variant.pk]),
            cells=make_cells(variant),
        )
        for variant in (variants[pk] for pk in row_ids if pk in variants)
        if variant.archived_at is None
    ]


def list_ids(columns: list[Column]) -> list[int]:
    return [column.id for column in columns]
