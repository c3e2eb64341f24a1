"""List actions that show first what they would do to each selected row, and then do it after one confirmation.

The preview is a rehearsal: the operation runs on each row, in a savepoint that is rolled back. Afterwards each row has
a transaction of its own. So a refused row doesn't stop the others, and no row's locks are held while another's are
taken.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from commerce.errors import NotFound, Refusal, ValidationFailed
from commerce.formats import parse_id
from commerce.tenancy.locks import lock_now
from commerce.tenancy.scope import ScopeOpener

from .audit import describe_changes
from .display import StrOrPromise
from .forms import refusal_of
from .history import name_actor, record
from .models import StaffAction
from .options import AccountModelAdmin
from .scopes import get_scope_opener, opens_own_scopes
from .wordings import explain, translate

# The most rows of one action.
MAX_ROWS = 200


class Run(Protocol):
    """Acts on a row by an operation, and raises its refusals. `fields` are those of the action's form."""

    def __call__(
        self, row: Any, *, request: HttpRequest, actor: str, fields: dict[str, Any], now: datetime
    ) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAction:
    """An action on each of the selected rows. `done` is what its log entry says, in English."""

    # The last part of its page's address.
    name: str
    title: StrOrPromise
    # What it does to a row, and whether that can be undone.
    help_text: StrOrPromise
    submit: StrOrPromise
    done: str
    run: Run
    form_class: type[forms.Form] = forms.Form
    # What staff should know about a row, such as the total of an order.
    describe: Callable[[Any], str]
    # Whether there is nothing to do for a row.
    is_done: Callable[[Any], bool]
    is_dangerous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an action did to a row, or would do. If it leaves the row as it is, `reason` says why."""

    row_id: int
    name: str
    link: str
    detail: str = ""
    reason: str = ""


class WithBulkActions:
    """For model admins: offers `bulk_actions` on the list, with a page for each."""

    bulk_actions: Sequence[BulkAction] = ()

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        offered = super().get_actions(request)  # type: ignore[misc]
        if self.has_write_permission(request):  # type: ignore[attr-defined]
            mine = {each.name: (_open_page(each), each.name, each.title) for each in self.bulk_actions}
            return mine | offered
        return offered

    def get_urls(self) -> list[URLPattern]:
        pages = [
            path(f"bulk/{each.name}/", self._make_bulk_view(each), name=_name_url(self.opts, each))  # type: ignore[attr-defined]
            for each in self.bulk_actions
        ]
        return [*pages, *super().get_urls()]  # type: ignore[misc]

    def _make_bulk_view(self, bulk: BulkAction) -> Callable[..., HttpResponse]:
        model_admin: Any = self

        @opens_own_scopes
        def view(request: HttpRequest) -> HttpResponse:
            return _BulkPage(model_admin, bulk, request).show()

        wrapped: Callable[..., HttpResponse] = model_admin.admin_site.admin_view(view)
        return wrapped


def _name_url(opts: Any, bulk: BulkAction) -> str:
    return f"{opts.app_label}_{opts.model_name}_bulk_{bulk.name}"


def _open_page(bulk: BulkAction) -> Callable[..., HttpResponse]:
    @admin.action(description=bulk.title, permissions=["write"])
    def open_page(model_admin: Any, request: HttpRequest, queryset: QuerySet) -> HttpResponse:
        # One more than is allowed, to know that there are more.
        ids = list(queryset.order_by("pk").values_list("pk", flat=True)[: MAX_ROWS + 1])
        _require_few(ids)
        return _BulkPage(model_admin, bulk, request).preview(ids)

    return open_page


class _BulkPage:
    """The preview of an action, and the page that acts and shows what happened."""

    def __init__(self, model_admin: AccountModelAdmin, bulk: BulkAction, request: HttpRequest) -> None:
        self.admin, self.bulk, self.request = model_admin, bulk, request
        self.open_scope = get_scope_opener(request)
        opts = model_admin.opts
        self.list_url = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
        self.url = reverse(f"admin:{_name_url(opts, bulk)}")
        self.now = timezone.now()

    def show(self) -> HttpResponse:
        if not self.admin.has_write_permission(self.request):
            raise PermissionDenied
        if self.request.method != "POST":
            return redirect(self.list_url)
        ids = _read_ids(self.request.POST.getlist("ids"))
        form = self.bulk.form_class(self.request.POST)
        if not form.is_valid():
            with self.open_scope():
                return self.preview(ids, form).render()
        outcomes = [self._act(row_id, form.cleaned_data, scope=self.open_scope) for row_id in ids]
        return self._answer("backoffice/bulk_result.html", outcomes, form)

    def preview(self, ids: list[int], form: forms.Form | None = None) -> TemplateResponse:
        """Show what the action would do. Needs an open scope, in which nothing is changed."""
        form = form or self.bulk.form_class()
        # Operations get an empty form, as nobody has filled it in yet.
        blank = dict.fromkeys(form.fields, "")
        outcomes = [self._act(row_id, blank, scope=transaction.atomic, is_rehearsal=True) for row_id in ids]
        return self._answer("backoffice/bulk_preview.html", outcomes, form)

    def _act(
        self, row_id: int, fields: dict[str, Any], *, scope: ScopeOpener, is_rehearsal: bool = False
    ) -> Outcome:
        """Act on a row in a scope of its own, which is rolled back after a rehearsal."""
        opts = self.admin.opts
        link = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row_id])
        make_outcome = partial(Outcome, row_id=row_id, link=link, name=f"#{row_id}")
        try:
            with scope():
                if not is_rehearsal:
                    self._lock(row_id)
                row = self.admin.get_queryset(self.request).filter(pk=row_id).first()
                if row is None:
                    raise NotFound
                make_outcome = partial(make_outcome, name=str(row), detail=self.bulk.describe(row))
                if self.bulk.is_done(row):
                    return make_outcome(reason=_("Nothing to do."))
                refusal = self.admin.refusal_to_change(self.request, row)
                if refusal is not None:
                    raise refusal
                before = copy(row)
                self.bulk.run(
                    row, request=self.request, actor=name_actor(self.request), fields=fields, now=self.now
                )
                after = self.admin.get_queryset(self.request).filter(pk=row_id).first()
                changes = {row_id: describe_changes(before, after)}
                record(self.request, [row], StaffAction.Kind.CHANGED, self.bulk.done, changes=changes)
                if is_rehearsal:
                    transaction.set_rollback(True)
        except (Refusal, DatabaseError) as error:
            reason = refusal_of(error)
            details = "; ".join(translate(each.detail) for each in reason.errors)
            return make_outcome(reason=details or explain(reason))
        return make_outcome()

    def _lock(self, row_id: int) -> None:
        """Lock the row before it is looked at: somebody else may be doing the same to it, which must not be logged twice."""
        self.admin.lock_selected([row_id])
        lock_now(self.admin.model._default_manager.filter(pk=row_id))

    def _answer(self, template: str, outcomes: Iterable[Outcome], form: forms.Form) -> TemplateResponse:
        opts = self.admin.opts
        outcomes = list(outcomes)
        context = {
            **self.admin.admin_site.each_context(self.request),
            "title": self.bulk.title,
            "bulk": self.bulk,
            "opts": opts,
            "form": form,
            "accepted": [each for each in outcomes if not each.reason],
            "refused": [each for each in outcomes if each.reason],
            "action_url": self.url,
            "list_url": self.list_url,
        }
        return TemplateResponse(self.request, template, context)


def _read_ids(texts: Iterable[str]) -> list[int]:
    """Read ids from texts with commas. Raises `ValidationFailed` for too many."""
    parts = [parse_id(part) for text in texts for part in text.split(",")]
    ids = sorted({row_id for row_id in parts if row_id is not None})
    _require_few(ids)
    return ids


def _require_few(ids: list[int]) -> None:
    if len(ids) > MAX_ROWS:
        raise ValidationFailed(_("Select at most %(count)d rows.") % {"count": MAX_ROWS})
