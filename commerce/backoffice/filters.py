"""Filters of lists."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from .days import PRESETS, load_shop_zone, parse_period


class PeriodFilter(admin.FieldListFilter):
    """Days of the shop: today, the last 7, 30 or 90, a single day, or from one day to another.

    Unlike Django's filter by date, it counts days in the shop's time zone, and a saved "last 7 days" always ends today.
    """

    @property
    def parameter(self) -> str:
        return period_parameter(self.field_path)

    @property
    def chosen(self) -> str:
        values: Any = self.used_parameters.get(self.parameter)
        return values[-1] if values else ""

    def expected_parameters(self) -> list[str | None]:
        return [self.parameter]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        if not self.chosen:
            return queryset
        zone = load_shop_zone()
        period = parse_period(self.chosen, today=timezone.now().astimezone(zone).date())
        if period is None:
            raise IncorrectLookupParameters
        first, end = period.bounds(zone)
        return queryset.filter(**{f"{self.field_path}__gte": first, f"{self.field_path}__lt": end})

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        offered = {"": _("Any day")} | {str(days): name_days(days) for days in PRESETS}
        if self.chosen:
            offered.setdefault(self.chosen, self.chosen.replace("..", " - "))
        for value, title in offered.items():
            query = {self.parameter: value} if value else {}
            removed = [] if value else [self.parameter]
            yield {
                "selected": value == self.chosen,
                "query_string": changelist.get_query_string(query, removed),
                "display": title,
            }


def period_parameter(field: str) -> str:
    """The parameter of a list's address that holds the days of a field."""
    return f"{field}_days"


def name_days(number: int) -> str:
    """Name a period that ends today."""
    if number == 1:
        return _("Today")
    return ngettext("Last %(number)d day", "Last %(number)d days", number) % {"number": number}


class ChoiceFilter(admin.SimpleListFilter):
    """Filters a list by named conditions, which `list_conditions` returns."""

    def list_conditions(self) -> dict[str, tuple[str, Q]]:
        """Return the title and the condition by value."""
        raise NotImplementedError

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [(value, title) for value, (title, _condition) in self.list_conditions().items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        value = self.value()
        if value is None:
            return queryset
        conditions = self.list_conditions()
        if value not in conditions:
            raise IncorrectLookupParameters
        return queryset.filter(conditions[value][1])
