"""The search box of all pages. Finds rows by number, name, email or code, and pages by name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from commerce.backoffice.figures import list_tasks, may_view

from .navigation import list_pages

# The most rows of each kind. Its list shows more.
_MOST = 5
_SHORTEST = 2
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Source:
    """A list whose rows are found by its own search; `fields` tell more about a row than its name does."""

    page: str
    title: str | Promise
    icon: str
    fields: tuple[str, ...]


# In this order, one statement each (two for emails, which have two kinds of ids).
_SOURCES = (
    Source("orders.order", _("Order"), "receipt_long", ("email", "status")),
    Source("customers.customer", _("Customer"), "person", ("first_name", "last_name")),
    Source("catalog.product", _("Product"), "inventory_2", ("handle", "status")),
    Source("catalog.variant", _("Variant"), "style", ("product", "title")),
    Source("discounts.voucher", _("Gift card"), "card_giftcard", ("recipient_email", "status")),
    Source("discounts.discount", _("Discount"), "sell", ("code", "status")),
    Source("emails.emaildelivery", _("Email"), "mail", ("subject", "status")),
)


@dataclass(frozen=True, slots=True)
class Finding:
    kind: str | Promise
    title: str
    detail: str
    icon: str
    link: str


def search(request: HttpRequest, text: str, app_list: Iterable[dict[str, Any]]) -> list[Finding]:
    """Find pages and rows that the member may see, in a fixed number of statements. Short texts find nothing."""
    # PostgreSQL refuses NUL in text.
    wanted = text.replace("\0", "").strip()[:_LONGEST]
    if len(wanted) < _SHORTEST and not wanted.isdecimal():
        return []
    return [*islice(_find_pages(request, wanted, app_list), _MOST), *_find_rows(request, wanted)]


def _find_pages(request: HttpRequest, text: str, app_list: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    tasks = [(task.title, task.icon, task.link) for task in list_tasks(request)]
    pages = [page for group in list_pages(app_list).values() for page in group]
    for title, icon, link in [*tasks, *pages]:
        if text.casefold() in str(title).casefold():
            yield Finding(_("Page"), str(title), "", icon, link)


def _find_rows(request: HttpRequest, text: str) -> Iterator[Finding]:
    for source in _SOURCES:
        if may_view(request, source.page):
            for row in _search_list(request, source.page, text):
                yield _describe(source, row)


def _search_list(request: HttpRequest, page: str, text: str) -> Iterable[Model]:
    model_admin = admin.site._registry[apps.get_model(page)]  # noqa: SLF001  Django's own templates read it
    rows, _may_repeat = model_admin.get_search_results(request, model_admin.get_queryset(request), text)
    related = model_admin.get_list_select_related(request)
    if isinstance(related, list | tuple):
        rows = rows.select_related(*related)
    return rows.order_by("-pk")[:_MOST]


def _read_text(row: Model, name: str) -> str:
    show = getattr(row, f"get_{name}_display", None)
    return str((show() if show else getattr(row, name)) or "")


def _describe(source: Source, row: Model) -> Finding:
    details = (_read_text(row, name) for name in source.fields)
    link = reverse(f"admin:{source.page.replace('.', '_')}_change", args=[row.pk])
    return Finding(source.title, str(row), " · ".join(filter(None, details)), source.icon, link)
