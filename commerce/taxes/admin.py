from collections.abc import Mapping
from datetime import datetime

from django.contrib import admin
from django.utils.translation import gettext_lazy

from commerce.backoffice.display import rate_column
from commerce.backoffice.options import EditableAdmin

from . import operations
from .models import TaxRate
from .rules import TAX_RATE


@admin.register(TaxRate)
class TaxRateAdmin(EditableAdmin):
    area = "products"
    deletable = True
    rules = TAX_RATE
    together = ({"country_code", "tax_class", "rate_bp"},)
    list_display = (
        "country_code",
        "tax_class",
        rate_column("rate_bp", gettext_lazy("Rate")),
        "name",
        "updated_at",
    )
    list_filter = ("tax_class",)
    search_fields = ("country_code", "name")
    ordering = ("country_code", "tax_class")
    fields = ("country_code", "tax_class", "rate_bp", "name")

    def create_row(self, fields: Mapping[str, object], now: datetime) -> TaxRate:
        return operations.create_tax_rate(fields=fields)

    def update_row(self, row: TaxRate, changes: Mapping[str, object], now: datetime) -> TaxRate:
        return operations.update_tax_rate(tax_rate_id=row.pk, changes=changes)

    def delete_row(self, row: TaxRate, now: datetime) -> None:
        operations.delete_tax_rate(tax_rate_id=row.pk)
