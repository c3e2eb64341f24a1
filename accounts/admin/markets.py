from collections.abc import Mapping
from datetime import datetime

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts import operations
from accounts.models import Market
from accounts.rules import MARKET
from commerce.backoffice.display import label_column
from commerce.backoffice.export import export_as_csv
from commerce.backoffice.options import EditableAdmin


@admin.register(Market)
class MarketAdmin(EditableAdmin):
    area = "markets"
    rules = MARKET
    list_display = (
        "name",
        "handle",
        "currency",
        "locale",
        "country_code",
        "domain",
        "prices_include_tax",
        label_column("status", "Status"),
    )
    list_filter = ("status", "prices_include_tax")
    search_fields = ("name", "handle", "domain")
    actions = ("deactivate", export_as_csv)
    readonly_fields = ("status",)
    fields = (
        ("handle", "name", "status"),
        ("currency", "locale", "country_code"),
        ("domain", "prices_include_tax"),
    )

    def create_row(self, fields: Mapping[str, object], now: datetime) -> Market:
        return operations.create_market(fields=fields)

    def update_row(self, row: Market, changes: Mapping[str, object], now: datetime) -> Market:
        return operations.update_market(market_id=row.pk, changes=changes)

    @admin.action(description="Deactivate the selected markets", permissions=["write"])
    def deactivate(self, request: HttpRequest, queryset: QuerySet[Market]) -> None:
        now = timezone.now()
        self.act_on_each(
            request,
            queryset,
            lambda row: operations.deactivate_market(market_id=row.pk, now=now),
            "deactivated",
        )
