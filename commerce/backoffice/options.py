"""Base classes of the back office's pages: they show refusals to staff and log staff actions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.admin import ShowFacets
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, transaction
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from commerce.errors import Refusal, ValidationFailed
from commerce.formats import parse_id
from commerce.prefixes import find_by_prefix

from .audit import describe_changes
from .export import export_as_csv
from .forms import (
    FormRefused,
    get_form_state,
    lock_to_save,
    read_all_values,
    read_changed_values,
    refusal_of,
)
from .history import find_actions_on, record
from .lists import COUNTED, BoundedPaginator, RowsList
from .models import StaffAction
from .roles import ByRole, ReadOnly
from .ruled_fields import RuledFields
from .saved_filters import SavesFilters
from .shown import read_shown_values, sign_shown_values
from .wordings import explain

View = Callable[..., HttpResponse]


def run_atomically_or_explain(view: View) -> View:
    """Make the view's POST atomic; if it is refused, roll back and show the reason as a message."""

    @wraps(view)
    def guarded(self: ModelAdmin, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if request.method != "POST":
            return view(self, request, *args, **kwargs)
        try:
            # A savepoint, since after an error PostgreSQL takes no further statement until a rollback.
            with transaction.atomic():
                return view(self, request, *args, **kwargs)
        except (Refusal, DatabaseError) as error:
            self.message_user(request, explain(refusal_of(error)), messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())

    return guarded


def refuse_save_as_new(request: HttpRequest) -> None:
    """Refuse Django's "save as new", which no page offers: Django would obey the parameter on any page."""
    if "_saveasnew" in request.POST:
        raise ValidationFailed(_("A page can't be saved as a new row. Nothing was saved."))


def copy_row(saved: Model, instance: Model) -> None:
    """Copy the row that an operation has saved to the form's instance, which Django goes on using."""
    for field in saved._meta.concrete_fields:
        setattr(instance, field.attname, getattr(saved, field.attname))
    instance._state = saved._state  # noqa: SLF001  Django documents it


class AccountModelAdmin(ByRole, RuledFields, SavesFilters, ModelAdmin):
    """The pages of one model, restricted to rows of the account in scope."""

    actions: Sequence[str | Callable[..., Any]] = (export_as_csv,)
    list_per_page = 50
    change_list_template = "backoffice/change_list.html"
    list_before_template = "backoffice/list_tabs.html"
    # Otherwise every list would count its whole table as well, and once for each choice of a filter.
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    list_max_show_all = 0
    ordering: Sequence[str] = ("-pk",)
    # Whether the search looks up the beginning of `search_fields` by an index of each, instead of reading all rows.
    searches_beginnings = False

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ChangeList]:
        return RowsList

    def get_paginator(
        self, request: HttpRequest, queryset: QuerySet, per_page: int, *args: object, **kwargs: object
    ) -> BoundedPaginator:
        return BoundedPaginator(queryset, per_page, is_exact=COUNTED in request.GET)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        text = search_term.strip().replace("\0", "")
        if not self.searches_beginnings or not text:
            return super().get_search_results(request, queryset, search_term)
        return find_by_prefix(queryset, self.search_fields, text), False

    def title_choice(self, row: Any) -> str:
        """Return what a row is called where one is chosen among many."""
        return str(row)

    def make_changelist(self, request: HttpRequest, *, per_page: int) -> ChangeList:
        """Make the list that the request's address describes, with pages of this many rows.

        Raises `ValidationFailed` if the address names unknown filters or pages.
        """
        try:
            return self.get_changelist(request)(
                request,
                self.model,
                self.get_list_display(request),
                None,
                self.get_list_filter(request),
                self.date_hierarchy,
                self.get_search_fields(request),
                self.get_list_select_related(request),
                per_page,
                per_page,
                (),
                self,
                self.get_sortable_by(request),
                self.search_help_text,
            )
        except IncorrectLookupParameters:
            raise ValidationFailed(_("This list doesn't have such a filter or page.")) from None

    def get_form(
        self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: object
    ) -> type[ModelForm]:
        form_class = super().get_form(request, obj, change=change, **kwargs)
        self.prepare(form_class, request)
        return form_class

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show or save the form. If saving is refused, show it again, invalid, with the reason."""
        refuse_save_as_new(request)
        try:
            return super().changeform_view(request, *args, **kwargs)
        except FormRefused as refused:
            get_form_state(request).refused = refused
        except (Refusal, DatabaseError) as error:
            # A GET changes nothing, so no form can show this.
            if request.method != "POST":
                raise
            get_form_state(request).refused = FormRefused(refusal_of(error))
        # Django has rolled the first run back. In this one, the refusal makes the form invalid, so nothing is saved.
        return super().changeform_view(request, *args, **kwargs)

    @run_atomically_or_explain
    def changelist_view(
        self, request: HttpRequest, extra_context: Mapping[str, object] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, extra_context)

    def response_action(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        # Django would break at the filter.
        if any(parse_id(text) is None for text in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            raise ValidationFailed(_("Select valid choices."))
        answer: HttpResponse | None = super().response_action(request, queryset)
        return answer

    @run_atomically_or_explain
    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Mapping[str, object] | None = None
    ) -> HttpResponse:
        return super().delete_view(request, object_id, extra_context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Mapping[str, object] | None = None
    ) -> HttpResponse:
        obj = self.get_object(request, unquote(object_id))
        if obj is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        if not self.has_view_permission(request, obj):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": _("History of %(object)s") % {"object": obj},
            "object": obj,
            "opts": self.opts,
            "staff_actions": find_actions_on(obj)[:200],
        }
        return TemplateResponse(request, "backoffice/history.html", context)

    def refusal_to_change(self, request: HttpRequest, row: Any) -> Refusal | None:
        """Return why the row can't be changed by anyone or by this member; None if it can."""
        return None

    def lock_selected(self, ids: list[int]) -> None:
        """Lock what an action on these rows locks, if it is more than the rows themselves.

        Rows acted upon one after another would be locked in the order row, parts, row, parts. Everyone else locks table
        by table.
        """

    def act_on_each(
        self, request: HttpRequest, queryset: QuerySet, act: Callable[[Any], object], *, done: str
    ) -> int:
        """Run a list action on each selected row, log it for each row as `done`, and return how many there are."""
        # Operations lock their rows, which everyone does by id.
        rows = list(queryset.order_by("pk"))
        before = {row.pk: copy(row) for row in rows}
        self.lock_selected(list(before))
        for row in rows:
            act(row)
        after = self.get_queryset(request).in_bulk(list(before))
        changes = {pk: describe_changes(old, after[pk]) for pk, old in before.items() if pk in after}
        record(request, rows, StaffAction.Kind.CHANGED, done, changes=changes)
        return len(rows)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> None:
        changes = [*describe_changes(None, obj), *get_form_state(request).changes]
        record(request, [obj], StaffAction.Kind.ADDED, message, changes={obj.pk: changes})

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> None:
        changes = get_form_state(request).changes
        record(request, [obj], StaffAction.Kind.CHANGED, message, changes={obj.pk: changes})

    def log_deletions(self, request: HttpRequest, queryset: Iterable[Model]) -> None:
        rows = list(queryset)
        changes = {row.pk: describe_changes(row, None) for row in rows}
        record(request, rows, StaffAction.Kind.DELETED, changes=changes)


class ReadOnlyAdmin(ReadOnly, AccountModelAdmin):
    pass


class EditableAdmin(AccountModelAdmin):
    """Pages whose forms are saved by the same operations as the API's; subclasses call them.

    Only fields that staff edited are saved; see `shown`. Each row is locked from before that comparison until it is
    saved.
    """

    change_form_before_template = "backoffice/shown.html"

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        state = get_form_state(request)
        is_saving_row = request.method == "POST" and object_id is not None
        state.locks_rows = is_saving_row and self.has_write_permission(request)
        state.shown_rows = read_shown_values(request)
        try:
            return super().changeform_view(request, object_id, *args, **kwargs)
        except PermissionDenied:
            if object_id is not None and self.has_write_permission(request):
                # The member may change other rows, but no longer this one, so the page says why.
                row = self.get_object(request, unquote(object_id))
                refusal = None if row is None else self.refusal_to_change(request, row)
                if refusal is not None:
                    raise refusal from None
            raise

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        # Unfold also passes an id instead of a row.
        is_ended = isinstance(obj, self.model) and self.refusal_to_change(request, obj) is not None
        return super().has_change_permission(request, obj) and not is_ended

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return lock_to_save(request, super().get_queryset(request))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: object, **kwargs: object
    ) -> HttpResponse:
        formsets = [inline.formset for inline in context["inline_admin_formsets"]]
        rows = [form for formset in formsets for form in formset.initial_forms]
        forms = [form for form in (context["adminform"].form, *rows) if hasattr(form, "key")]
        if forms:
            context["shown"] = sign_shown_values({form.key: form.fingerprints for form in forms})
        return super().render_change_form(request, context, *args, **kwargs)

    def create_row(self, fields: dict[str, Any], now: datetime) -> Model:
        raise NotImplementedError

    def update_row(self, row: Any, changes: dict[str, Any], now: datetime) -> Model:
        raise NotImplementedError

    def delete_row(self, row: Any, now: datetime) -> None:
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        if not change:
            saved = self.create_row(read_all_values(form), timezone.now())
        elif changes := read_changed_values(form):
            before = copy(form.row)
            saved = self.update_row(form.row, changes, timezone.now())
            get_form_state(request).changes += describe_changes(before, saved)
        else:
            return
        copy_row(saved, obj)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        before = {row.instance.pk: copy(row.row) for row in formset.initial_forms if hasattr(row, "row")}
        super().save_formset(request, form, formset, change)
        changes = get_form_state(request).changes
        for row, _fields in formset.changed_objects:
            changes += describe_changes(before.get(row.pk), row, part=str(row))
        for row in formset.new_objects:
            changes += describe_changes(None, row, part=str(row))
        for row in formset.deleted_objects:
            changes += describe_changes(row, None, part=str(row))

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        self.delete_row(obj, timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet) -> None:
        now = timezone.now()
        # By id, as everyone locks rows.
        rows = list(queryset.order_by("pk"))
        self.lock_selected([row.pk for row in rows])
        for row in rows:
            self.delete_row(row, now)
