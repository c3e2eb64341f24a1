"""What every page of an account's rows stands on: refusals shown to staff, and a log of what they did."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, transaction
from django.db.models import Model, QuerySet
from django.forms import BaseInlineFormSet, ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.admin import ModelAdmin, TabularInline
from unfold.forms import PaginationInlineFormSet
from unfold.views import ChangeList

from commerce.errors import Refusal

from .export import export_as_csv
from .forms import FormRefused, RuledFields, all_values, changed_values, refusal_of, refused_as
from .history import actions_on, record
from .models import StaffAction
from .roles import ByRole, ReadOnly

_SHOWN_ACTIONS = 200

View = Callable[..., HttpResponse]


def whole_or_explained(view: View) -> View:
    """The answer to a POST whole, or nothing of it and a message that says why."""

    @wraps(view)
    def guarded(self: ModelAdmin, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST":
            return view(self, request, *args, **kwargs)
        try:
            with transaction.atomic():
                return view(self, request, *args, **kwargs)
        except (Refusal, DatabaseError) as error:
            self.message_user(request, refusal_of(error).detail, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())

    return guarded


class RowsList(ChangeList):
    """A list whose filters may hold anything: those that make no query are refused like those that Django checks."""

    def get_results(self, request: HttpRequest) -> None:
        try:
            super().get_results(request)
        except (ValueError, OverflowError) as error:  # such as for a year that no date has
            raise IncorrectLookupParameters from error


class AccountModelAdmin(ByRole, RuledFields, ModelAdmin):
    """The pages of one kind of row of the account in scope."""

    actions: Sequence[str | Callable[..., Any]] = (export_as_csv,)
    list_per_page = 50
    show_full_result_count = False
    ordering: Sequence[str] = ("-pk",)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return RowsList

    def get_form(
        self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any
    ) -> type[ModelForm]:
        form_class = super().get_form(request, obj, change=change, **kwargs)
        form_class.rules = self.rules
        form_class.refused = getattr(request, "refused", None)
        return form_class

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The form; where saving was refused it is shown once more, invalid, with the reason."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except FormRefused as refused:
            request.refused = refused  # type: ignore[attr-defined]
        except (Refusal, DatabaseError) as error:
            if request.method != "POST":
                raise
            request.refused = FormRefused(refusal_of(error))  # type: ignore[attr-defined]
        return super().changeform_view(request, *args, **kwargs)

    @whole_or_explained
    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, extra_context)

    @whole_or_explained
    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().delete_view(request, object_id, extra_context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        obj = self.get_object(request, unquote(object_id))
        if obj is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        if not self.has_view_permission(request, obj):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": f"History of {obj}",
            "object": obj,
            "opts": self.opts,
            "staff_actions": actions_on(obj)[:_SHOWN_ACTIONS],
        }
        return TemplateResponse(request, "backoffice/history.html", context)

    def act_on_each(
        self, request: HttpRequest, queryset: QuerySet, act: Callable[[Any], object], done: str
    ) -> None:
        """Run an action of the list on each row that was selected, and log it there as `done`."""
        rows = list(queryset.order_by("pk"))
        for row in rows:
            act(row)
        record(request, rows, StaffAction.Kind.CHANGED, done)
        self.message_user(request, f"{len(rows)} {self.opts.verbose_name_plural} {done}.", messages.SUCCESS)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> None:
        record(request, [obj], StaffAction.Kind.ADDED, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> None:
        record(request, [obj], StaffAction.Kind.CHANGED, message)

    def log_deletions(self, request: HttpRequest, queryset: Iterable[Model]) -> None:
        record(request, queryset, StaffAction.Kind.DELETED)


class ReadOnlyAdmin(ReadOnly, AccountModelAdmin):
    pass


class EditableAdmin(AccountModelAdmin):
    """Pages whose forms are saved by the operations that the API calls too, which subclasses name."""

    def create_row(self, fields: dict[str, Any], now: datetime) -> Model:
        raise NotImplementedError

    def update_row(self, row: Any, changes: dict[str, Any], now: datetime) -> Model:
        raise NotImplementedError

    def delete_row(self, row: Any, now: datetime) -> None:
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Model, form: ModelForm, change: bool) -> None:
        if not change:
            saved = self.create_row(all_values(form), timezone.now())
        elif changes := changed_values(form):
            saved = self.update_row(obj, changes, timezone.now())
        else:
            return
        # Django goes on with the form's own instance.
        obj.__dict__.update(saved.__dict__)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        self.delete_row(obj, timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet) -> None:
        now = timezone.now()
        for row in queryset.order_by("pk"):
            self.delete_row(row, now)


class RowsFormSet(PaginationInlineFormSet):
    """Saves the rows of an inline by the operations that the inline names."""

    rows: "RowsInline"

    def save_new(self, form: ModelForm, commit: bool = True) -> Model:
        with refused_as(form):
            return self.rows.create_row(self.instance, all_values(form), timezone.now())

    def save_existing(self, form: ModelForm, obj: Model, commit: bool = True) -> Model:
        with refused_as(form):
            return self.rows.update_row(obj, changed_values(form), timezone.now())

    def delete_existing(self, obj: Model, commit: bool = True) -> None:
        self.rows.delete_row(obj, timezone.now())


class RowsInline(ByRole, RuledFields, TabularInline):
    """Rows that are edited on the page of their owner."""

    extra = 0
    deletable = True
    formset = RowsFormSet

    def create_row(self, owner: Any, fields: dict[str, Any], now: datetime) -> Model:
        raise NotImplementedError

    def update_row(self, row: Any, changes: dict[str, Any], now: datetime) -> Model:
        raise NotImplementedError

    def delete_row(self, row: Any, now: datetime) -> None:
        raise NotImplementedError

    def get_formset(
        self, request: HttpRequest, obj: Model | None = None, **kwargs: Any
    ) -> type[BaseInlineFormSet]:
        formset_class = super().get_formset(request, obj, **kwargs)
        formset_class.rows = self
        formset_class.form.rules = self.rules
        formset_class.form.refused = getattr(request, "refused", None)
        return formset_class


class ReadOnlyRows(ReadOnly, TabularInline):
    extra = 0
    can_delete = False
    ordering = ("pk",)
