"""The start page: how the shop is doing, and what there is to do."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Market
from accounts.queries import current_account
from commerce.backoffice.charts import Chart, build_chart
from commerce.backoffice.days import PRESETS, Period, last_days, list_midnights
from commerce.backoffice.display import format_count, format_money
from commerce.backoffice.figures import (
    Figure,
    Window,
    count_tasks,
    link_to_list,
    make_figures,
    may_view,
)
from commerce.backoffice.filters import name_days, period_parameter
from commerce.backoffice.panels import make_panels
from commerce.orders.models import Order
from commerce.orders.sales import Sales, sum_sales

_USUAL_DAYS = 30
_SHOWN_ORDERS = 10
_ORDERS = "orders.order"


@dataclass(slots=True)
class Total:
    """A number of orders, and their totals in cents by currency."""

    orders: int = 0
    cents: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    orders_by_currency: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    refunded_orders: int = 0
    refunded_cents: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, sales: Sales) -> None:
        self.orders += sales.orders
        self.cents[sales.currency] += sales.total_cents
        self.orders_by_currency[sales.currency] += sales.orders
        self.refunded_orders += sales.refunded_orders
        if sales.refunded_cents:
            self.refunded_cents[sales.currency] += sales.refunded_cents


@dataclass(frozen=True, slots=True)
class Row:
    """A day or a market in a table. The link leads to its orders."""

    title: str
    orders: int
    revenue: str
    link: str


def load_overview(request: HttpRequest, *, now: datetime) -> dict[str, object]:
    """Load what the member may see of the account in scope, in a fixed number of statements."""
    account = current_account()
    zone = ZoneInfo(account.default_timezone)
    number = _read_days(request)
    window = Window(now, zone, last_days(number, today=now.astimezone(zone).date()))
    sales = _load_sales(window, account.default_currency) if may_view(request, _ORDERS) else {"figures": []}
    return {
        "tasks": count_tasks(request),
        "periods": [{"title": name_days(days), "days": days, "active": days == number} for days in PRESETS],
        "figures": [*sales.pop("figures"), *make_figures(request, window)],
        "compared": ngettext("compared with the day before", "compared with the %(days)d days before", number)
        % {"days": number},
        "zone": account.default_timezone,
        "panels": make_panels(request, now=now),
        **sales,
    }


def _read_days(request: HttpRequest) -> int:
    chosen = request.GET.get("days", "")
    return next((days for days in PRESETS if str(days) == chosen), _USUAL_DAYS)


def _load_sales(window: Window, currency: str) -> dict[str, Any]:
    """Load the figures, charts and tables of sales. `currency` is the one that comes first."""
    before, period = window.period.previous(), window.period
    days = [*before.list_days(), *period.list_days()]
    midnights = [*list_midnights(before, window.zone), *list_midnights(period, window.zone)]
    by_day: defaultdict[date, Total] = defaultdict(Total)
    by_market: defaultdict[int, Total] = defaultdict(Total)
    now, then = Total(), Total()
    for sales in sum_sales(midnights, period.bounds(window.zone)[1]):
        by_day[days[sales.day]].add(sales)
        if sales.day < before.length:
            then.add(sales)
        else:
            now.add(sales)
            by_market[sales.market_id].add(sales)
    currencies = sorted({*now.cents, *then.cents, currency}, key=lambda one: (one != currency, one))
    return {
        "figures": [*_make_figures(period, now, then, currencies)],
        "charts": [*_draw_charts(before, period, by_day, currencies)],
        "days": [_make_day(day, by_day[day]) for day in reversed(period.list_days())],
        "markets": _list_markets(period, by_market),
        "latest_orders": Order.objects.order_by("-pk")[:_SHOWN_ORDERS],
    }


def _make_figures(period: Period, now: Total, then: Total, currencies: Sequence[str]) -> Iterator[Figure]:
    yield Figure(
        title=_("Orders"),
        text=format_count(now.orders),
        count=now.orders,
        page=_ORDERS,
        query=_filter_sold(period),
        before=format_count(then.orders),
    )
    for currency in currencies:
        orders, orders_before = now.orders_by_currency[currency], then.orders_by_currency[currency]
        cents, cents_before = now.cents[currency], then.cents[currency]
        yield Figure(
            title=_("Revenue in %(currency)s") % {"currency": currency},
            text=format_money(cents, currency),
            count=orders,
            page=_ORDERS,
            query=_filter_sold(period, currency__exact=currency),
            before=format_money(cents_before, currency),
            note=_("Average order %(amount)s, before %(amount_before)s")
            % {
                "amount": _format_average(cents, orders, currency),
                "amount_before": _format_average(cents_before, orders_before, currency),
            },
        )
    if now.refunded_orders or then.refunded_orders:
        yield Figure(
            title=_("Refunded of these"),
            text=_write_amounts(now.refunded_cents),
            count=now.refunded_orders,
            page=_ORDERS,
            query=_filter_sold(period) | {"work": "returned"},
            before=_write_amounts(then.refunded_cents),
        )


def _format_average(cents: int, orders: int, currency: str) -> str:
    return format_money(round(cents / orders), currency) if orders else "-"


def _draw_charts(
    before: Period, period: Period, by_day: Mapping[date, Total], currencies: Sequence[str]
) -> Iterator[Chart]:
    yield build_chart(
        _("Orders"),
        [(day, by_day[day].orders) for day in period.list_days()],
        colour="text-primary-600",
        before=[(day, by_day[day].orders) for day in before.list_days()],
        write=format_count,
    )
    for currency in currencies:
        yield build_chart(
            _("Revenue in %(currency)s") % {"currency": currency},
            [(day, by_day[day].cents[currency]) for day in period.list_days()],
            colour="text-green-700",
            before=[(day, by_day[day].cents[currency]) for day in before.list_days()],
            write=partial(format_money, currency=currency),
        )


def _make_day(day: date, total: Total) -> Row:
    link = link_to_list(_ORDERS, _filter_sold(Period(day, day)))
    return Row(date_format(day, "SHORT_DATE_FORMAT"), total.orders, _write_amounts(total.cents), link)


def _list_markets(period: Period, by_market: Mapping[int, Total]) -> list[Row]:
    """The markets, the one with most orders first."""
    rows = []
    for pk, name in Market.objects.order_by("name").values_list("pk", "name"):
        total = by_market.get(pk) or Total()
        link = link_to_list(_ORDERS, _filter_sold(period, market__id__exact=pk))
        rows.append(Row(name, total.orders, _write_amounts(total.cents), link))
    return sorted(rows, key=lambda row: -row.orders)


def _filter_sold(period: Period, **more: str | int) -> dict[str, str | int]:
    """The filters of the orders that count as sales of a period."""
    return {"work": "sold", period_parameter("placed_at"): str(period)} | more


def _write_amounts(cents: Mapping[str, int]) -> str:
    amounts: Iterable[str] = (
        format_money(amount, currency) for currency, amount in sorted(cents.items()) if amount
    )
    return ", ".join(amounts) or "-"
