from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from commerce.backoffice.bulk import WithBulkActions
from commerce.backoffice.display import label_column, weight_column
from commerce.backoffice.export import export_as_csv
from commerce.backoffice.forms import is_saving
from commerce.backoffice.grids import WithGrids, open_grid
from commerce.backoffice.inlines import RowsInline
from commerce.backoffice.measure_fields import Read, clean_currency, find_measure
from commerce.backoffice.measures import Measure, Money
from commerce.backoffice.membership import may
from commerce.backoffice.options import EditableAdmin
from commerce.errors import ValidationFailed
from commerce.formats import parse_id
from commerce.queries import sum_up
from commerce.tenancy.locks import lock_now

from . import operations, queries
from .bulk_actions import ACTIVATE_PRODUCTS, ARCHIVE_PRODUCTS, ARCHIVE_VARIANTS
from .hooks import find_market_currencies
from .models import Product, Variant, VariantPricing
from .price_grid import ComparedPriceGrid, PriceGrid
from .rules import PRICING, PRODUCT, VARIANT
from .variant_numbers import Kind, register_variant_numbers
from .variant_rows import LIVE, VariantRows

PRICES = "admin:catalog_variant_prices"
COMPARED_PRICES = "admin:catalog_variant_compared_prices"
# By name, because inventory imports the catalog.
STOCK = "admin:inventory_inventorylevel_grid"


register_variant_numbers(Kind(grid=PriceGrid, area="products"))


def _mark_archived(title: str, row: Product | Variant) -> str:
    # The SKU of an archived variant may be that of another one.
    return title if row.archived_at is None else f"{title}, {gettext('archived')}"


class OffersStock:
    """For model admins: only members who may see stock get the actions with the permission "stock"."""

    def has_stock_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return may(request, "read_inventory")


@admin.register(Product)
class ProductAdmin(OffersStock, WithBulkActions, EditableAdmin):
    area = "products"
    rules = PRODUCT
    list_display = ("title", "handle", label_column("status", _("Status")), "variant_count", "updated_at")
    list_filter = ("status", "updated_at")
    searches_beginnings = True
    search_fields = ("title", "handle", "variants__sku")
    search_help_text = _("Beginning of the title, handle or SKU")
    inlines = (VariantRows,)
    actions = ("edit_prices", "edit_stock", export_as_csv)
    bulk_actions = (ACTIVATE_PRODUCTS, ARCHIVE_PRODUCTS)
    fields = (("handle", "status"), "title", "description")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Product]:
        live_variants = Variant.objects.filter(LIVE)
        return super().get_queryset(request).annotate(live_variants=sum_up(live_variants, "product"))

    def title_choice(self, row: Product) -> str:
        return _mark_archived(f"{row.title} ({row.handle})", row)

    @display(description=_("Variants"), ordering="live_variants")
    def variant_count(self, product: Any) -> int:
        return product.live_variants

    def create_row(self, fields: Mapping[str, object], now: datetime) -> Product:
        return operations.create_product(fields=fields, variants=[])

    def update_row(self, row: Product, changes: Mapping[str, object], now: datetime) -> Product:
        operations.update_product(product_id=row.pk, changes=changes, now=now)
        # Read again, as the operation may change more than the form did: `archived_at`.
        return queries.get_product(row.pk)

    @admin.action(description=_("Edit prices of the selected products"), permissions=["view"])
    def edit_prices(self, request: HttpRequest, queryset: QuerySet[Product]) -> HttpResponse:
        return open_grid(request, queryset, PRICES, lookup="product__in")

    @admin.action(description=_("Edit stock of the selected products"), permissions=["stock"])
    def edit_stock(self, request: HttpRequest, queryset: QuerySet[Product]) -> HttpResponse:
        return open_grid(request, queryset, STOCK, lookup="product__in")


def find_price_measure(name: str, read: Read) -> Measure | None:
    """Return the measure of a column of a price, whose currency is the market's if none is given."""
    if not name.endswith("_cents"):
        return find_measure(name, read)
    return Money(clean_currency(read("currency")) or _find_currency(read("market")))


def _find_currency(market_id: int | str | None) -> str:
    # An id, or what was sent for one.
    known = market_id if isinstance(market_id, int) else parse_id(market_id or "")
    return "" if known is None else find_market_currencies([known]).get(known, "")


class PricingRows(RowsInline):
    model = VariantPricing
    rules = PRICING
    find_measure = staticmethod(find_price_measure)
    together = ({"currency", "price_cents", "compare_at_price_cents"},)
    deletable = False
    hide_title = True
    ordering = ("market_id",)
    fields = ("market", "currency", "price_cents", "compare_at_price_cents")

    def formfield_for_dbfield(
        self, db_field: models.Field, request: HttpRequest, **kwargs: object
    ) -> forms.Field | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name == "currency":
            field.required = False
            field.help_text = _("If empty, the market's currency.")
        return field

    def create_row(self, owner: Variant, fields: Mapping[str, object], now: datetime) -> VariantPricing:
        # An empty field of the form stands for the market's currency, as None does for the operation.
        return operations.add_pricing(
            variant_id=owner.pk, fields={**fields, "currency": fields["currency"] or None}
        )

    def update_row(self, row: VariantPricing, changes: Mapping[str, object], now: datetime) -> VariantPricing:
        # `set_pricing` would add a price in the other market, and leave this one as it is.
        if "market_id" in changes:
            raise ValidationFailed.of(
                "pricing",
                "read_only_field",
                "A price can't be moved to another market. Add a new one instead.",
            )
        # The operation sets the whole price, so it needs the columns that weren't edited as well.
        columns = ("market_id", "currency", "price_cents", "compare_at_price_cents")
        fields = {name: getattr(row, name) for name in columns} | dict(changes)
        return operations.set_pricing(
            variant_id=row.variant_id, fields=fields | {"currency": fields["currency"] or None}
        )


@admin.register(Variant)
class VariantAdmin(OffersStock, WithGrids, WithBulkActions, EditableAdmin):
    area = "products"
    rules = VARIANT
    list_display = (
        "sku",
        "title",
        "product",
        weight_column("weight_grams", _("Weight")),
        "tax_class",
        "is_live",
    )
    list_filter = (("archived_at", admin.EmptyFieldListFilter), "track_inventory", "allow_backorder")
    list_select_related = ("product",)
    searches_beginnings = True
    search_fields = ("sku", "product__title")
    search_help_text = _("Beginning of the SKU or of the product's title")
    inlines = (PricingRows,)
    autocomplete_fields = ("product",)
    grids = (PriceGrid, ComparedPriceGrid)
    actions_list = ("open_prices", "open_compared_prices", "open_stock")
    actions = ("edit_prices", "edit_compared_prices", "edit_stock", export_as_csv)
    bulk_actions = (ARCHIVE_VARIANTS,)
    fields = (
        "product",
        ("sku", "title"),
        ("weight_grams", "tax_class"),
        ("track_inventory", "allow_backorder"),
    )

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Variant | None:
        # A new price or a longer title makes the product larger, so the product is locked, and before the variant.
        variant_id = parse_id(object_id)
        if is_saving(request) and variant_id is not None:
            of_variant = Variant.objects.filter(pk=variant_id).values("product")
            lock_now(Product.objects.filter(pk__in=of_variant))
        return super().get_object(request, object_id, from_field)

    def get_readonly_fields(self, request: HttpRequest, obj: Variant | None = None) -> tuple[str, ...]:
        # A variant can be given a product only as it is created: no operation moves it to another one.
        return ("product",) if obj else ()

    def title_choice(self, row: Variant) -> str:
        names = ", ".join(filter(None, [row.product.title, row.title]))
        return _mark_archived(f"{row.sku} ({names})", row)

    @display(description=_("Live"), boolean=True)
    def is_live(self, variant: Variant) -> bool:
        return variant.archived_at is None

    def create_row(self, fields: dict[str, Any], now: datetime) -> Variant:
        return operations.add_variant(product_id=fields.pop("product_id"), fields=fields)

    def update_row(self, row: Variant, changes: Mapping[str, object], now: datetime) -> Variant:
        operations.update_variant(variant_id=row.pk, changes=changes, now=now)
        return queries.get_variant(row.pk)

    @action(description=_("Edit prices"), permissions=["view"], icon="payments")
    def open_prices(self, request: HttpRequest) -> HttpResponse:
        return HttpResponseRedirect(reverse(PRICES))

    @action(description=_("Edit compare-at prices"), permissions=["view"], icon="sell")
    def open_compared_prices(self, request: HttpRequest) -> HttpResponse:
        return HttpResponseRedirect(reverse(COMPARED_PRICES))

    @action(description=_("Edit stock"), permissions=["stock"], icon="warehouse")
    def open_stock(self, request: HttpRequest) -> HttpResponse:
        return HttpResponseRedirect(reverse(STOCK))

    @admin.action(description=_("Edit prices of the selected variants"), permissions=["view"])
    def edit_prices(self, request: HttpRequest, queryset: QuerySet[Variant]) -> HttpResponse:
        return open_grid(request, queryset, PRICES)

    @admin.action(description=_("Edit compare-at prices of the selected variants"), permissions=["view"])
    def edit_compared_prices(self, request: HttpRequest, queryset: QuerySet[Variant]) -> HttpResponse:
        return open_grid(request, queryset, COMPARED_PRICES)

    @admin.action(description=_("Edit stock of the selected variants"), permissions=["stock"])
    def edit_stock(self, request: HttpRequest, queryset: QuerySet[Variant]) -> HttpResponse:
        return open_grid(request, queryset, STOCK)
