"""Forms that keep the rules of the API, and can show what an operation or the database has refused."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import datetime
from typing import Any

from django import forms
from django.contrib.admin.utils import display_for_field
from django.db import DatabaseError, DataError, IntegrityError, models
from django.forms.utils import ErrorDict
from django.http import HttpRequest
from rest_framework import serializers

from commerce.errors import FieldError, Refusal, ValidationFailed, constraint_of
from commerce.rest.exceptions import as_refusal

from .shown import MergingForm, Values, as_json

_UNITS = {"_cents": "In minor units: 1990 is 19.90.", "_bp": "In basis points: 1900 is 19 %."}


class FormRefused(Exception):
    """What an operation or the database has refused of one of a page's forms, which its prefix tells."""

    def __init__(self, refusal: Refusal, *, prefix: str | None = None) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal
        self.prefix = prefix


class RuledModelForm(MergingForm, forms.ModelForm):
    """A model form checked by the API's serializer too; if it is the one `refused`, it is invalid and shows why.

    `row` is the stored row; Django sets the form's values on `instance`.
    """

    rules: type[serializers.Serializer] | None = None
    refused: FormRefused | None = None
    # What the submitted page showed, by row; None if it was no page of ours.
    page: dict[str, Values] | None = {}
    # Its row was deleted after the page was opened.
    is_gone = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is None:
            return
        self.row = copy(self.instance)
        self.key = key_of(self.instance, self.instance.pk)
        now = {name: self.initial[name] for name in self.fields if name in self.initial}
        marks = as_json(now)
        page = {self.key: marks} if self.page is None else self.page
        shown = page.get(self.key) if self.is_bound else None
        self.initial = {**self.initial, **self._from_json(shown or {})}
        self.merge(shown=shown, now=now, marks=marks)

    def lose_row(self, pk: str) -> None:
        """The row of this form is gone: nothing is saved, and an edit of it is refused."""
        self.is_gone = self.empty_permitted = True
        self.ignore_hidden_inputs()
        self.key = key_of(self.instance, pk)
        self.marks = (self.page or {}).get(self.key, {})
        self.initial = self._from_json(self.marks) | {self.instance._meta.pk.name: pk}

    def full_clean(self) -> None:
        super().full_clean()
        if self.is_gone and self.has_changed():
            self._errors = ErrorDict()
            self.add_error(None, "Somebody else deleted this row. Mark it for deletion, then save again.")

    def current_value(self, name: str) -> Any:
        return getattr(self.row, name)

    def text_of_current(self, name: str) -> str:
        value = getattr(self.row, name)
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(display_for_field(value, self.row._meta.get_field(name), ""))

    def _from_json(self, values: Values) -> dict[str, Any]:
        model = self.instance._meta
        return {name: model.get_field(name).to_python(values[name]) for name in self.fields if name in values}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.rules is not None:
            self._apply(self.rules)
        if self.refused is not None and self.refused.prefix == self.prefix:
            self._show(self.refused.refusal)
        return cleaned

    def _apply(self, rules: type[serializers.Serializer]) -> None:
        """Check what was filled in, and take it on in the form that the API would keep it in."""
        sent = {
            self._column(name): _as_sent(self.cleaned_data[name])
            for name in self.base_fields.keys() & self.cleaned_data.keys()
            if self.cleaned_data[name] not in (None, "")
        }
        serializer = rules(data=sent)
        if serializer.is_valid():
            kept = serializer.validated_data
            self.cleaned_data |= {name: kept[name] for name in self.base_fields if name in kept}
            return
        refusal = as_refusal(serializers.ValidationError(serializer.errors))
        if refusal is not None:
            self._show(refusal)

    def _column(self, name: str) -> str:
        return self._meta.model._meta.get_field(name).attname

    def _show(self, refusal: Refusal) -> None:
        if not refusal.errors:
            self.add_error(None, refusal.detail)
        for error in refusal.errors:
            self._show_error(error)

    def _show_error(self, error: FieldError) -> None:
        column, _, rest = error.field.partition(".")
        detail = f"{rest}: {error.detail}" if rest else error.detail
        field = next((name for name in self.fields if column in {name, f"{name}_id"}), None)
        if field is None:
            self.add_error(None, f"{error.field}: {error.detail}")
        elif field not in self.errors:
            self.add_error(field, detail)


def key_of(row: models.Model, pk: Any) -> str:
    """What a page calls a row of this kind."""
    return f"{row._meta.label_lower}/{pk}"


def all_values(form: forms.ModelForm) -> dict[str, Any]:
    """Cleaned values by column, as operations take them: `zone_id` rather than `zone`."""
    return _by_column(form, form.base_fields)


def changed_values(form: forms.ModelForm) -> dict[str, Any]:
    """As `all_values`, of the fields that were changed."""
    return _by_column(form, form.base_fields.keys() & set(form.changed_data))


def _by_column(form: forms.ModelForm, names: Iterable[str]) -> dict[str, Any]:
    fields = [form.instance._meta.get_field(name) for name in names]
    return {field.attname: _plain(form.cleaned_data[field.name]) for field in fields}


def _plain(value: Any) -> Any:
    return value.pk if isinstance(value, models.Model) else value


def _as_sent(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else _plain(value)


class RuledFields:
    """For model admins and inlines: forms with the rules of `rules`, and the unit of a number beside it."""

    form = RuledModelForm
    rules: type[serializers.Serializer] | None = None
    together: Sequence[set[str]] = ()

    def prepare(self, form_class: type[RuledModelForm], request: HttpRequest) -> None:
        """Give a form what it needs to know of the page."""
        form_class.rules = self.rules
        form_class.together = self.together
        form_class.refused = getattr(request, "refused", None)
        form_class.page = getattr(request, "shown", {})

    def formfield_for_dbfield(
        self, db_field: models.Field, request: HttpRequest, **kwargs: Any
    ) -> forms.Field | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        if field is not None and not field.help_text:
            field.help_text = next((_UNITS[end] for end in _UNITS if db_field.name.endswith(end)), "")
        return field


@contextmanager
def refused_as(form: forms.ModelForm) -> Iterator[None]:
    """Turn what is refused here into a refusal of this form; raises `FormRefused`."""
    try:
        yield
    except (Refusal, DatabaseError) as error:
        raise FormRefused(refusal_of(error), prefix=form.prefix) from error


def refusal_of(error: Exception) -> Refusal:
    """What to tell staff about a write that was refused; an error that is a bug is raised again."""
    refusal = as_refusal(error)
    if refusal is not None:
        return refusal
    if isinstance(error, IntegrityError):
        return ValidationFailed(f"The shop's data does not allow this: {constraint_of(error)}.")
    if isinstance(error, DataError):
        return ValidationFailed("A value has a form that can't be stored.")
    raise error
