from collections.abc import Mapping
from datetime import datetime

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from accounts import operations
from accounts.models import Market
from accounts.rules import MARKET
from commerce.backoffice.bulk import BulkAction, WithBulkActions
from commerce.backoffice.display import label_column
from commerce.backoffice.options import EditableAdmin
from commerce.wording import mark


def _activate(row: Market, **_rest: object) -> None:
    operations.update_market(market_id=row.pk, changes={"status": Market.Status.ACTIVE})


def _deactivate(row: Market, *, now: datetime, **_rest: object) -> None:
    operations.deactivate_market(market_id=row.pk, now=now)


def _describe(market: Market) -> str:
    return f"{market.country_code} · {market.currency}"


ACTIVATE_MARKETS = BulkAction(
    name="activate",
    title=_("Activate the selected markets"),
    help_text=_("Customers can buy in them again."),
    submit=_("Activate"),
    done=mark("activated"),
    run=_activate,
    describe=_describe,
    is_done=lambda market: market.status == Market.Status.ACTIVE,
)
DEACTIVATE_MARKETS = BulkAction(
    name="deactivate",
    title=_("Deactivate the selected markets"),
    help_text=_(
        "They are no longer listed in the shop, and no checkout can be started in them. Orders keep their market."
    ),
    submit=_("Deactivate"),
    done=mark("deactivated"),
    run=_deactivate,
    describe=_describe,
    is_done=lambda market: market.status == Market.Status.INACTIVE,
)


@admin.register(Market)
class MarketAdmin(WithBulkActions, EditableAdmin):
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
        label_column("status", _("Status")),
    )
    list_filter = ("status", "prices_include_tax")
    search_fields = ("name", "handle", "domain")
    bulk_actions = (ACTIVATE_MARKETS, DEACTIVATE_MARKETS)
    readonly_fields = ("status",)
    fields = (
        ("handle", "name", "status"),
        ("currency", "locale", "country_code"),
        ("domain", "prices_include_tax"),
    )

    def title_choice(self, row: Market) -> str:
        return f"{row.name} ({row.handle})"

    def create_row(self, fields: Mapping[str, object], now: datetime) -> Market:
        return operations.create_market(fields=fields)

    def update_row(self, row: Market, changes: Mapping[str, object], now: datetime) -> Market:
        return operations.update_market(market_id=row.pk, changes=changes)
