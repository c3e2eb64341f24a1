"""The variants of a product on its page, with their prices and stock."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import Q, QuerySet
from django.forms import BaseInlineFormSet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from commerce.backoffice.forms import is_saving
from commerce.backoffice.inlines import RowsInline
from commerce.backoffice.membership import get_membership

from . import operations
from .models import Product, Variant
from .rules import VARIANT
from .variant_numbers import Numbers, NumbersForm

LIVE = Q(archived_at__isnull=True)
# Inputs of variants on one page. Django refuses forms with more than 1,000 inputs (DATA_UPLOAD_MAX_NUMBER_FIELDS).
MAX_INPUTS = 900
# Inputs that need more room than numbers.
TEXTS = ("sku", "title", "tax_class")


class VariantRows(RowsInline):
    model = Variant
    rules = VARIANT
    verbose_name_plural = gettext_lazy("Variants (deleting one archives it)")
    hide_title = True
    ordering = ("pk",)
    readonly_fields = ("more",)
    fields = ("sku", "title")
    fields_after_numbers = ("weight_grams", "tax_class", "track_inventory", "allow_backorder", "more")
    numbers: Numbers | None = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Variant]:
        return super().get_queryset(request).filter(LIVE)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        numbers = self._prepare_numbers(request, obj)
        is_editable = self.has_change_permission(request, obj)
        shown = numbers.list_names() if is_editable else numbers.list_columns()
        return [*self.fields, *shown, *self.fields_after_numbers]

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: object) -> type[BaseInlineFormSet]:
        numbers = self._prepare_numbers(request, obj)
        inputs = numbers.make_fields() if self.has_change_permission(request, obj) else {}
        form: Any = type("VariantForm", (NumbersForm,), {"numbers": numbers, **inputs})
        self.form = form
        self.request = request
        # The id, the product and the mark for deletion are inputs as well.
        width = len(self.get_fields(request, obj)) + 3
        self.max_num = max(1, MAX_INPUTS // width)
        # The rest is for variants that are added.
        self.per_page = max(1, self.max_num * 2 // 3)
        return super().get_formset(request, obj, **kwargs)

    def formfield_for_dbfield(
        self, db_field: models.Field, request: HttpRequest, **kwargs: object
    ) -> forms.Field | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name in TEXTS:
            field.widget.attrs["style"] = "min-width: 8rem"
        return field

    def load_parts(self, row_ids: list[int]) -> None:
        self._prepare_numbers(self.request, None).load(row_ids, is_saving=is_saving(self.request))

    def _prepare_numbers(self, request: HttpRequest, product: Product | None) -> Numbers:
        # Django makes a new instance of the inline for each request.
        if self.numbers is None:
            membership = get_membership(request)
            if membership is None:
                raise PermissionDenied
            is_editable = self.has_change_permission(request, product)
            may_use = membership.may_change if is_editable else membership.may_view
            self.numbers = Numbers(self, may_use=may_use)
        return self.numbers

    @display(description=gettext_lazy("More"))
    def more(self, variant: Variant) -> SafeString | str:
        """Link the variant's page, where prices can have their own currency and a compare-at price."""
        if variant.pk is None:
            return "-"
        link = reverse("admin:catalog_variant_change", args=[variant.pk])
        return format_html('<a href="{}" class="text-link">{}</a>', link, _("Details"))

    def create_row(self, owner: Product, fields: Mapping[str, object], now: datetime) -> Variant:
        return operations.add_variant(product_id=owner.pk, fields=fields)

    def update_row(self, row: Variant, changes: Mapping[str, object], now: datetime) -> Variant:
        operations.update_variant(variant_id=row.pk, changes=changes, now=now)
        return row

    def save_rest(self, row: Variant, form: Any) -> None:
        self._prepare_numbers(self.request, None).save(self.request, row, form)

    def delete_row(self, row: Variant, now: datetime) -> None:
        operations.archive_variant(variant_id=row.pk, now=now)
