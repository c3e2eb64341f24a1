"""Lists that stay quick however many rows there are."""

from functools import cached_property
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ORDER_VAR
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.views import ChangeList

# The most rows that a list counts and pages through. Filters and the search find the others.
MOST_COUNTED = 10_000
# In a list's address: the number of rows must be exact, as in links from the overview.
COUNTED = "counted"
# Of a column's number.
_MOST_DIGITS = 4


class BoundedPaginator(Paginator):
    """Counts at most `MOST_COUNTED` rows, unless the address asks for an exact number."""

    template_name = "backoffice/pagination.html"

    def __init__(self, rows: QuerySet, per_page: int, *, is_exact: bool = False) -> None:
        super().__init__(rows, per_page)
        self.rows = rows
        self.is_exact = is_exact

    @cached_property
    def rows_counted(self) -> int:
        """The number of rows; one more than `MOST_COUNTED` stands for any larger number."""
        # By id alone, so that no column is read or computed that only the list shows.
        ids = self.rows.order_by().values("pk")
        return ids.count() if self.is_exact else ids[: MOST_COUNTED + 1].count()

    @cached_property
    def count(self) -> int:
        return self.rows_counted if self.is_exact else min(self.rows_counted, MOST_COUNTED)

    @cached_property
    def num_pages(self) -> int:
        return -(-min(self.count, MOST_COUNTED) // self.per_page) or 1

    @property
    def has_more(self) -> bool:
        """Whether there are more rows than the pages show."""
        return self.rows_counted > MOST_COUNTED


class RowsList(ChangeList):
    """A list that counts at most `MOST_COUNTED` rows, and sorts only by columns that its page allows.

    It refuses filter values that the database can't compare, as it refuses those that Django checks.
    """

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        filters = super().get_filters_params(params)
        filters.pop(COUNTED, None)
        return filters

    @property
    def link_to_exact_number(self) -> str:
        """The address of the same list with its rows counted."""
        return self.get_query_string({COUNTED: "1"})

    def get_ordering(self, request: HttpRequest, queryset: QuerySet) -> list[Any]:
        chosen = self.params.get(ORDER_VAR)
        if chosen and self.sortable_by is not None:
            # Django hides the links of other columns, but would still obey their parameter.
            allowed = [part for part in chosen.split(".") if self._may_sort_by(part)]
            self.params[ORDER_VAR] = ".".join(allowed)
        return super().get_ordering(request, queryset)

    def _may_sort_by(self, part: str) -> bool:
        number = part.removeprefix("-")
        # Python refuses to read thousands of digits.
        if len(number) > _MOST_DIGITS or not number.isdecimal() or int(number) >= len(self.list_display):
            return False
        return self.list_display[int(number)] in self.sortable_by

    def get_results(self, request: HttpRequest) -> None:
        try:
            super().get_results(request)
        except (ValueError, OverflowError) as error:  # such as a year out of range
            raise IncorrectLookupParameters from error
