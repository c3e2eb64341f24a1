from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import display

from commerce.backoffice.display import format_money, label_column
from commerce.backoffice.export import export_as_csv
from commerce.backoffice.forms import is_saving
from commerce.backoffice.inlines import RowsInline
from commerce.backoffice.options import EditableAdmin
from commerce.errors import ValidationFailed
from commerce.formats import parse_id
from commerce.queries import sum_up
from commerce.tenancy.locks import lock_now

from . import operations, queries
from .models import Product, Variant, VariantPricing
from .rules import PRICING, PRODUCT, VARIANT

_LIVE = Q(archived_at__isnull=True)


class VariantRows(RowsInline):
    model = Variant
    rules = VARIANT
    verbose_name_plural = "Variants (deleting one archives it)"
    hide_title = True
    ordering = ("pk",)
    readonly_fields = ("prices",)
    fields = ("sku", "title", "weight_grams", "tax_class", "track_inventory", "allow_backorder", "prices")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Variant]:
        return super().get_queryset(request).filter(_LIVE).prefetch_related("pricing")

    @display(description="Prices")
    def prices(self, variant: Variant) -> str:
        """Link the prices to the variant's page, where they can be changed."""
        if variant.pk is None:
            return "-"
        prices = [format_money(price.price_cents, price.currency) for price in variant.pricing.all()]
        link = reverse("admin:catalog_variant_change", args=[variant.pk])
        return format_html('<a href="{}" class="text-link">{}</a>', link, ", ".join(prices) or "Set prices")

    def create_row(self, owner: Product, fields: Mapping[str, object], now: datetime) -> Variant:
        return operations.add_variant(product_id=owner.pk, fields=fields)

    def update_row(self, row: Variant, changes: Mapping[str, object], now: datetime) -> Variant:
        operations.update_variant(variant_id=row.pk, changes=changes, now=now)
        return row

    def delete_row(self, row: Variant, now: datetime) -> None:
        operations.archive_variant(variant_id=row.pk, now=now)


@admin.register(Product)
class ProductAdmin(EditableAdmin):
    area = "products"
    rules = PRODUCT
    list_display = ("title", "handle", label_column("status", "Status"), "variant_count", "updated_at")
    list_filter = ("status", "updated_at")
    searches_beginnings = True
    search_fields = ("title", "handle", "variants__sku")
    search_help_text = "Beginning of the title, handle or SKU"
    inlines = (VariantRows,)
    actions = ("archive", export_as_csv)
    fields = (("handle", "status"), "title", "description")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Product]:
        live_variants = Variant.objects.filter(_LIVE)
        return super().get_queryset(request).annotate(live_variants=sum_up(live_variants, "product"))

    @display(description="Variants", ordering="live_variants")
    def variant_count(self, product: Any) -> int:
        return product.live_variants

    def create_row(self, fields: Mapping[str, object], now: datetime) -> Product:
        return operations.create_product(fields=fields, variants=[])

    def update_row(self, row: Product, changes: Mapping[str, object], now: datetime) -> Product:
        operations.update_product(product_id=row.pk, changes=changes, now=now)
        # Read again, as the operation may change more than the form did: `archived_at`.
        return queries.get_product(row.pk)

    def lock_selected(self, ids: list[int]) -> None:
        operations.lock_products_to_archive(ids)

    @admin.action(description="Archive the selected products", permissions=["write"])
    def archive(self, request: HttpRequest, queryset: QuerySet[Product]) -> None:
        now = timezone.now()
        self.act_on_each(
            request, queryset, lambda row: operations.archive_product(product_id=row.pk, now=now), "archived"
        )


class PricingRows(RowsInline):
    model = VariantPricing
    rules = PRICING
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
            field.help_text = "If empty, the market's currency."
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
class VariantAdmin(EditableAdmin):
    area = "products"
    rules = VARIANT
    list_display = ("sku", "title", "product", "weight_grams", "tax_class", "is_live")
    list_filter = (("archived_at", admin.EmptyFieldListFilter), "track_inventory", "allow_backorder")
    list_select_related = ("product",)
    searches_beginnings = True
    search_fields = ("sku", "product__title")
    search_help_text = "Beginning of the SKU or of the product's title"
    inlines = (PricingRows,)
    autocomplete_fields = ("product",)
    actions = ("archive", export_as_csv)
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

    @display(description="Live", boolean=True)
    def is_live(self, variant: Variant) -> bool:
        return variant.archived_at is None

    def create_row(self, fields: dict[str, Any], now: datetime) -> Variant:
        return operations.add_variant(product_id=fields.pop("product_id"), fields=fields)

    def update_row(self, row: Variant, changes: Mapping[str, object], now: datetime) -> Variant:
        operations.update_variant(variant_id=row.pk, changes=changes, now=now)
        return queries.get_variant(row.pk)

    @admin.action(description="Archive the selected variants", permissions=["write"])
    def archive(self, request: HttpRequest, queryset: QuerySet[Variant]) -> None:
        now = timezone.now()
        self.act_on_each(
            request, queryset, lambda row: operations.archive_variant(variant_id=row.pk, now=now), "archived"
        )
