"""What model admins and inlines have in common: forms that check rules, and numbers that are shown as measures."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

from django import forms
from django.db import models
from django.http import HttpRequest
from unfold.decorators import display

from commerce.rules import Fields

from .forms import RuledModelForm, get_column, get_form_state, read_column
from .locales import current_locale
from .measure_fields import FindMeasure, MeasureField, find_measure, is_measured, title_measure
from .measures import Count


class RuledFields:
    """For model admins and inlines: forms that check `rules`, and show numbers as measures, such as cents as amounts."""

    form = RuledModelForm
    model: type[models.Model]
    rules: Fields | None = None
    find_measure: FindMeasure = staticmethod(find_measure)
    # Further columns with a measure, whose names don't show it.
    measured: Sequence[str] = ()
    together: Sequence[set[str]] = ()

    def prepare(self, form_class: type[RuledModelForm], request: HttpRequest) -> None:
        """Give the form class the rules, and what the request's page showed and had refused."""
        form_class.rules = self.rules
        form_class.find_measure = staticmethod(self.find_measure)
        required = self.rules.required if self.rules is not None else {}
        columns = {column.name: column for column in form_class._meta.model._meta.fields}
        for name, field in form_class.base_fields.items():
            # Rules may require a field whose column may be empty.
            if name in columns and columns[name].attname in required:
                field.required = True
        form_class.together = self.together
        state = get_form_state(request)
        form_class.refused = state.refused
        form_class.shown_rows = state.shown_rows

    def formfield_for_dbfield(
        self, db_field: models.Field, request: HttpRequest, **kwargs: object
    ) -> forms.Field | None:
        if not self._is_measured(db_field.name):
            return super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        return MeasureField(
            # A placeholder. The form finds the measure of its row.
            measure=Count(),
            required=not db_field.blank,
            label=title_measure(db_field),
            help_text=db_field.help_text,
            initial=db_field.get_default() if db_field.has_default() else None,
        )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fieldsets, with columns that show measures where the fields can't be edited."""
        fieldsets = super().get_fieldsets(request, obj)  # type: ignore[misc]
        if self.has_change_permission(request, obj):  # type: ignore[attr-defined]
            return fieldsets
        return [
            (title, {**options, "fields": self._show_measures(options["fields"])})
            for title, options in fieldsets
        ]

    def _is_measured(self, name: str) -> bool:
        return is_measured(name) or name in self.measured

    def _show_measures(self, fields: Iterable[Any]) -> list[Any]:
        return [
            self._show_measures(field) if isinstance(field, list | tuple) else self._choose_column(field)
            for field in fields
        ]

    def _choose_column(self, field: Any) -> Any:
        is_column = isinstance(field, str) and field in {each.name for each in self.model._meta.fields}
        if not is_column or not self._is_measured(field):
            return field
        # Must be the same function each time, because Django compares read-only fields with the page's.
        return measure_column(self.model, field, self.find_measure)


@cache
def measure_column(model: type[models.Model], name: str, find: FindMeasure) -> Callable[[Any], str]:
    """Return a column for lists and pages that shows a column of the table as a measure."""

    @display(description=title_measure(get_column(model, name)), ordering=name)
    def column(row: Any) -> str:
        value = getattr(row, name)
        if value is None:
            return "-"
        measure = find(name, partial(read_column, row))
        return str(value) if measure is None else measure.format(value, current_locale())

    return column
