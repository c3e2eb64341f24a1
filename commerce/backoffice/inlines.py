"""Rows that are shown or edited on the page of the row that they belong to."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.admin.sites import AdminSite
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.db.models import Model, QuerySet
from django.forms import BaseInlineFormSet, ModelForm
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import cached_property
from unfold.admin import TabularInline
from unfold.forms import PaginationInlineFormSet

from commerce.formats import parse_id

from .forms import (
    RuledModelForm,
    attach_refusal_to,
    lock_to_save,
    read_all_values,
    read_changed_values,
)
from .roles import ByRole, ReadOnly
from .ruled_fields import RuledFields


class RowsFormSet(PaginationInlineFormSet):
    """Saves the rows of an inline through the operations of that inline."""

    rows: "RowsInline"
    _has_forms = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.is_bound and self.per_page:
            # The rows that were sent. Others may have added or deleted rows before them, which moves them to another page.
            self._queryset = self.queryset.filter(pk__in=self._list_sent_ids())

    def _list_sent_ids(self) -> list[int]:
        names = [
            f"{self.add_prefix(index)}-{self.model._meta.pk.name}" for index in range(self.total_form_count())
        ]
        return [pk for name in names if (pk := parse_id(self.data.get(name, ""))) is not None]

    @cached_property
    def forms(self) -> list[RuledModelForm]:
        self.rows.load_parts([row.pk for row in self.get_queryset()])
        forms = super().forms
        self._has_forms = self.is_bound
        return forms

    def get_queryset(self) -> Iterable[Model]:
        """Return the rows of the submitted page once its forms exist."""
        # Django's admin pairs these rows with the forms one by one. Others may have added or deleted rows meanwhile.
        if self._has_forms:
            return [form.instance for form in self.initial_forms]
        return super().get_queryset()

    def add_fields(self, form: RuledModelForm, index: int | None) -> None:
        super().add_fields(form, index)
        for name, field in form.fields.items():
            # Django wraps the inputs of references, and shares the wrapper's attributes among all forms.
            is_wrapped = isinstance(field.widget, RelatedFieldWidgetWrapper)
            widget = field.widget.widget if is_wrapped else field.widget
            # The table's heading is no label of the input for a screen reader.
            widget.attrs.setdefault("aria-label", form[name].label)
        is_shown = self.is_bound and index is not None and index < self.initial_form_count()
        # The row was deleted meanwhile. Django would skip its form without any message.
        if is_shown and form.instance.pk is None:
            form.mark_as_deleted(form[self._pk_field.name].data)

    # A refusal is shown in the form of the row that it is about, so each save attaches its own.
    def save_new(self, form: ModelForm, commit: bool = True) -> Model:
        with attach_refusal_to(form):
            row = self.rows.create_row(self.instance, read_all_values(form), timezone.now())
            self.rows.save_rest(row, form)
        return row

    def save_existing(self, form: Any, obj: Model, commit: bool = True) -> Model:
        with attach_refusal_to(form):
            changes = read_changed_values(form)
            row = self.rows.update_row(form.row, changes, timezone.now()) if changes else obj
            self.rows.save_rest(row, form)
        return row

    def delete_existing(self, obj: Model, commit: bool = True) -> None:
        self.rows.delete_row(obj, timezone.now())


class OnOwnersPage(ByRole):
    """Rows on their owner's page, of the same area of scopes unless they name another."""

    admin_site: AdminSite
    parent_model: type[Model]

    def get_area(self) -> str:
        return self.area or getattr(self.admin_site.get_model_admin(self.parent_model), "area", "")


class RowsInline(OnOwnersPage, RuledFields, TabularInline):
    """Rows that are edited on their owner's page."""

    extra = 0
    deletable = True
    formset = RowsFormSet

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return lock_to_save(request, super().get_queryset(request))

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        fields = [*super().get_readonly_fields(request, obj)]
        if self.has_change_permission(request, obj):
            return fields
        # Among them are the columns that show measures, of which Django makes no inputs.
        return [*fields, *flatten_fieldsets(self.get_fieldsets(request, obj))]

    def create_row(self, owner: Any, fields: dict[str, Any], now: datetime) -> Model:
        raise NotImplementedError

    def update_row(self, row: Any, changes: dict[str, Any], now: datetime) -> Model:
        raise NotImplementedError

    def delete_row(self, row: Any, now: datetime) -> None:
        raise NotImplementedError

    def load_parts(self, row_ids: list[int]) -> None:
        """Load what the forms of these rows show besides their columns, for all rows at once."""

    def save_rest(self, row: Any, form: Any) -> None:
        """Save fields of the form that aren't columns of the row."""

    def get_formset(
        self, request: HttpRequest, obj: Model | None = None, **kwargs: object
    ) -> type[BaseInlineFormSet]:
        formset_class = super().get_formset(request, obj, **kwargs)
        formset_class.rows = self
        self.prepare(formset_class.form, request)
        return formset_class


class ReadOnlyRows(OnOwnersPage, ReadOnly, TabularInline):
    extra = 0
    can_delete = False
    ordering = ("pk",)
