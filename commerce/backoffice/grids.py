"""Tables in which staff change many numbers at once, such as prices by variant and market.

A grid shows one page of a list. Staff send it, see what would change, and confirm. Every cell that they changed is saved
by the operation that its own page uses, in one transaction: one refusal, and nothing is saved. Cells that somebody else
changed meanwhile are marked with the current value (`shown`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from commerce.backoffice.wordings import explain, translate
from commerce.errors import Refusal, ValidationFailed

from . import audit
from .display import StrOrPromise
from .grid_forms import Cell, Change, Column, Grid, GridForm, Row
from .history import record_each
from .locales import ENGLISH, use_locale
from .models import StaffAction
from .options import AccountModelAdmin
from .shown import Values, read_shown_values, sign_shown_values

# Cells on one page.
MAX_CELLS = 500
# Columns of one page, such as markets.
MAX_COLUMNS = 50
# Selected rows of a list, which the grid's address names.
MAX_IDS = 200
# The key of the page's only form in the token of shown values.
_PAGE = "grid"


class GridPage:
    """A grid below a list. Subclasses load its rows and save its cells."""

    # Such as "prices": the last part of the page's address.
    name: str
    title: StrOrPromise
    help_text: StrOrPromise = ""
    # The model of the rows, for the log.
    subject: str
    # Whether a number can be removed.
    may_be_emptied = False
    # Filters of the list, by parameter, that the grid always sets.
    filters: Mapping[str, str] = MappingProxyType({})

    def __init__(self, model_admin: AccountModelAdmin) -> None:
        self.admin = self.guard = model_admin

    def list_columns(self) -> list[Column]:
        """Return at most `MAX_COLUMNS` columns."""
        raise NotImplementedError

    def load(self, row_ids: list[int], columns: list[Column]) -> list[Row]:
        """Load these rows, in this order and in a fixed number of statements; those that don't exist are left out."""
        raise NotImplementedError

    def make_empty_cell(self, column: Column) -> Cell:
        """Return the cell of a row that doesn't exist yet."""
        raise NotImplementedError

    def lock(self, row_ids: list[int], columns: list[Column]) -> None:
        """Lock all that saving cells of these rows will lock."""
        raise NotImplementedError

    def save_cell(self, change: Change, data: Mapping[str, Any]) -> None:
        """Save a cell by the operation of its own page. Raises what the operation raises."""
        raise NotImplementedError

    def make_options(self, data: Mapping[str, str] | None) -> forms.Form | None:
        """Return a form for what holds for all cells, such as a reason."""
        return None

    def show(self, request: HttpRequest) -> HttpResponse:
        """Answer a request of the page."""
        if not self.guard.has_view_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return self._show_list(request)
        if not self.guard.has_write_permission(request):
            raise PermissionDenied
        shown = (read_shown_values(request) or {}).get(_PAGE)
        if shown is None:
            raise ValidationFailed(_("Nothing was saved: this page is too old or incomplete. Open it again."))
        columns = self.list_columns()
        row_ids = list(dict.fromkeys(int(name.split("-")[1]) for name in shown))
        is_saving = "save" in request.POST
        if is_saving:
            self.lock(row_ids, columns)
        grid = Grid(columns=columns, rows=self.load(row_ids, columns))
        form = GridForm(grid, request.POST, shown, may_be_emptied=self.may_be_emptied)
        options = self.make_options(request.POST)
        if "edit" in request.POST or not (form.is_valid() and (options is None or options.is_valid())):
            return self._render(request, form, options)
        changes = form.list_changes()
        if not changes:
            self.admin.message_user(request, _("Nothing was changed."), messages.INFO)
            return redirect(request.get_full_path())
        if not is_saving:
            return self._preview(request, form, options, changes, shown)
        if not self._save(form, changes, {} if options is None else options.cleaned_data):
            return self._render(request, form, options)
        self.log(request, changes)
        count = len(changes)
        text = ngettext("%(count)d value was changed.", "%(count)d values were changed.", count)
        self.admin.message_user(request, text % {"count": count}, messages.SUCCESS)
        return redirect(request.get_full_path())

    def _show_list(self, request: HttpRequest) -> HttpResponse:
        columns = self.list_columns()
        per_page = max(1, MAX_CELLS // max(1, len(columns)))
        query = request.GET.copy()
        for name, value in self.filters.items():
            query[name] = value
        # Where Django's list looks for its filters.
        request.GET = query  # type: ignore[assignment]
        found = self.admin.make_changelist(request, per_page=per_page)
        row_ids = [row.pk for row in found.result_list]
        form = GridForm(Grid(columns=columns, rows=self.load(row_ids, columns)))
        return self._render(request, form, self.make_options(None), found)

    def _save(self, form: GridForm, changes: Iterable[Change], options: Mapping[str, Any]) -> bool:
        """Save all changes, or else add the reasons to the form, save none, and return False."""
        with suppress(_Refused), transaction.atomic():
            for change in changes:
                try:
                    self.save_cell(change, options)
                except Refusal as refusal:
                    details = "; ".join(translate(error.detail) for error in refusal.errors)
                    detail = details or explain(refusal)
                    form.add_error(change.cell.name, forms.ValidationError(detail, code=refusal.code))
            if form.errors:
                raise _Refused
        return not form.errors

    def log(self, request: HttpRequest, changes: Iterable[Change]) -> None:
        """Log each row's changes, with the values before and after."""
        found: dict[int, list[audit.Change]] = {}
        # The log reads the same whoever wrote it.
        with use_locale(ENGLISH), override("en"):
            summary = f"changed {self.title}"
            for change in changes:
                label = f"{self.title}: {change.column.title}"
                before = "" if change.cell.value is None else change.before
                after = "" if change.value is None else change.after
                found.setdefault(change.row.id, []).append(audit.Change(label, before, after))
        record_each(
            request,
            subject=self.subject,
            kind=StaffAction.Kind.CHANGED,
            summary=summary,
            changes=found,
        )

    def _render(
        self, request: HttpRequest, form: GridForm, options: forms.Form | None, found: Any = None
    ) -> HttpResponse:
        may_change = self.guard.has_write_permission(request)
        rows = [
            {"row": row, "cells": [_make_shown_cell(form, cell, may_change=may_change) for cell in row.cells]}
            for row in form.grid.rows
        ]
        errors = sum(1 for name in form.errors if name in form.cells)
        context = {
            "form": form,
            "options": options,
            "columns": form.grid.columns,
            "rows": rows,
            "shown": sign_shown_values({_PAGE: form.fingerprints}),
            "may_change": may_change,
            # Not as `cl`: the page's header would offer to show the whole list.
            "found": found,
            "error_count": errors,
        }
        return self._answer(request, "backoffice/grid.html", context)

    def _preview(
        self,
        request: HttpRequest,
        form: GridForm,
        options: forms.Form | None,
        changes: list[Change],
        shown: Values,
    ) -> HttpResponse:
        sent = {change.cell.name: form.data[change.cell.name] for change in changes}
        if options is not None:
            sent |= {bound.html_name: bound.data or "" for bound in options}
        # The token of the page that was sent: what others change before the confirmation is noticed as well.
        context = {"changes": changes, "sent": sent, "shown": sign_shown_values({_PAGE: shown})}
        return self._answer(request, "backoffice/grid_preview.html", context)

    def _answer(self, request: HttpRequest, template: str, context: Mapping[str, object]) -> HttpResponse:
        # The list from which the grid was opened: that of stock shows levels, though its rows are variants.
        opts = self.guard.opts
        shared = {
            **self.admin.admin_site.each_context(request),
            "title": self.title,
            "help_text": self.help_text,
            "opts": opts,
        }
        return TemplateResponse(request, template, {**shared, **context})


class _Refused(Exception):
    """Rolls back what was saved before a cell was refused."""


def _make_shown_cell(form: GridForm, cell: Cell, *, may_change: bool) -> dict[str, object]:
    is_input = may_change and not cell.is_fixed
    return {"cell": cell, "text": cell.format(cell.value), "field": form[cell.name] if is_input else None}


class WithGrids:
    """For model admins: pages with grids, whose addresses are below the list's."""

    grids: Sequence[type[GridPage]] = ()

    def get_urls(self) -> list[URLPattern]:
        pages = [
            path(f"{grid.name}/", self._make_view(grid), name=name_grid_url(self.opts, grid.name))  # type: ignore[attr-defined]
            for grid in self.grids
        ]
        return [*pages, *super().get_urls()]  # type: ignore[misc]

    def _make_view(self, grid: type[GridPage]) -> Callable[..., HttpResponse]:
        def view(request: HttpRequest) -> HttpResponse:
            return grid(self).show(request)  # type: ignore[arg-type]

        site: AdminSite = self.admin_site  # type: ignore[attr-defined]
        return site.admin_view(view)


def name_grid_url(opts: Any, name: str) -> str:
    return f"{opts.app_label}_{opts.model_name}_{name.replace('-', '_')}"


def open_grid(request: HttpRequest, rows: QuerySet, url_name: str, *, lookup: str = "id__in") -> HttpResponse:
    """Open a grid from an action of a list: of the selected rows, or of all that the list's search and filters find.

    A list of other rows than the grid's gives the `lookup` that finds the grid's rows by the ids of its own. Raises
    `ValidationFailed` if these are more than `MAX_IDS`.
    """
    query = request.GET.copy()
    # The page of the list says nothing about the grid's.
    query.pop("p", None)
    if lookup != "id__in" or request.POST.get("select_across", "0") != "1":
        ids = list(rows.order_by("pk").values_list("pk", flat=True)[: MAX_IDS + 1])
        if len(ids) > MAX_IDS:
            raise ValidationFailed(_("Select at most %(count)d rows.") % {"count": MAX_IDS})
        query = QueryDict(mutable=True)
        query[lookup] = ",".join(map(str, ids))
    return redirect(f"{reverse(url_name)}?{query.urlencode()}")
