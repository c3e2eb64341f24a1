"""Forms that check the rules of the operations, and show refusals of operations and the database."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

from django import forms
from django.contrib.admin.utils import display_for_field
from django.db import DatabaseError, DataError, IntegrityError, models
from django.db.models import QuerySet
from django.forms.utils import ErrorDict
from django.http import HttpRequest

from commerce.database_errors import refusal_from_database
from commerce.errors import Refusal, ValidationFailed, constraint_of
from commerce.rules import Fields
from commerce.tenancy.locks import lock

from .audit import Change
from .shown import MergingForm, Values, to_json


class FormRefused(Exception):
    """A refusal of an operation or the database, for the form of the page that has this `prefix`."""

    def __init__(self, refusal: Refusal, *, prefix: str | None = None) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal
        self.prefix = prefix


class RuledModelForm(MergingForm, forms.ModelForm):
    """A model form that checks the rules of its operations. The form that was `refused` is invalid and shows why.

    `row` is the stored row; Django writes the form's values to `instance`.
    """

    rules: Fields | None = None
    refused: FormRefused | None = None
    # The values that the submitted page showed, by row; None if the page sent no token.
    shown_rows: dict[str, Values] | None = {}
    # Whether the row was deleted after the page was opened.
    is_deleted = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is None:
            return
        self.row = copy(self.instance)
        self.key = make_row_key(self.instance, self.instance.pk)
        stored = {name: self.initial[name] for name in self.fields if name in self.initial}
        fingerprints = to_json(stored)
        # A script that sends no token is taken to have seen what is stored.
        shown_rows = {self.key: fingerprints} if self.shown_rows is None else self.shown_rows
        shown = shown_rows.get(self.key) if self.is_bound else None
        # Django counts a field as changed if it differs from `initial`, which must be what the page showed.
        self.initial = {**self.initial, **self._from_json(shown or {})}
        self.merge(shown=shown, stored=stored, fingerprints=fingerprints)

    def mark_as_deleted(self, pk: str) -> None:
        """Mark the form's row as deleted meanwhile: nothing is saved, and an edit is refused."""
        # Django doesn't validate an unedited form that may be empty.
        self.is_deleted = self.empty_permitted = True
        self.ignore_hidden_inputs()
        self.key = make_row_key(self.instance, pk)
        self.fingerprints = (self.shown_rows or {}).get(self.key, {})
        self.initial = self._from_json(self.fingerprints) | {self.instance._meta.pk.name: pk}

    def full_clean(self) -> None:
        super().full_clean()
        if self.is_deleted and self.has_changed():
            # Errors of its fields don't matter any more.
            self._errors = ErrorDict()
            self.add_error(None, "Somebody else deleted this row. Mark it for deletion, then save again.")

    def read_stored_value(self, name: str) -> object:
        return getattr(self.row, name)

    def format_stored_value(self, name: str) -> str:
        value = getattr(self.row, name)
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(display_for_field(value, self.row._meta.get_field(name), ""))

    def _from_json(self, values: Values) -> dict[str, Any]:
        model = self.instance._meta
        return {name: model.get_field(name).to_python(values[name]) for name in self.fields if name in values}

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or self.cleaned_data
        if self.rules is not None:
            # Empty fields are left out: Django has checked which may be empty, see `RuledFields.prepare`.
            filled_in = {
                self._get_column(name): _to_plain(self.cleaned_data[name])
                for name in self.base_fields.keys() & self.cleaned_data.keys()
                if self.cleaned_data[name] not in (None, "") and self._get_column(name) in self.rules.rules
            }
            try:
                checked = self.rules.check(filled_in, partial=True)
            except ValidationFailed as refusal:
                show_refusal(self, refusal)
            else:
                # Rules may change a value, as the operation will before it stores it.
                self.cleaned_data |= {name: checked[name] for name in self.base_fields if name in checked}
        if self.refused is not None and self.refused.prefix == self.prefix:
            show_refusal(self, self.refused.refusal)
        return cleaned

    def _get_column(self, name: str) -> str:
        return self._meta.model._meta.get_field(name).attname


def show_refusal(form: forms.BaseForm, refusal: Refusal) -> bool:
    """Add each error to the field that it names, or else to the form. Return whether a field got one."""
    named = False
    if not refusal.errors:
        form.add_error(None, forms.ValidationError(refusal.detail, code=refusal.code))
    for error in refusal.errors:
        column, _, rest = error.field.partition(".")
        detail = f"{rest}: {error.detail}" if rest else error.detail
        field = next((name for name in form.fields if column in {name, f"{name}_id"}), None)
        named = named or field is not None
        if field is None:
            text = f"{error.field}: {error.detail}" if error.field else error.detail
            form.add_error(None, forms.ValidationError(text, code=error.code))
        # The form may have found the same error before the operation did.
        elif field not in form.errors:
            form.add_error(field, forms.ValidationError(detail, code=error.code))
    return named


def make_row_key(row: models.Model, pk: object) -> str:
    """Return the key of a row in the page's token."""
    return f"{row._meta.label_lower}/{pk}"


def read_all_values(form: forms.ModelForm) -> dict[str, object]:
    """Return the cleaned values by column, as operations take them: `zone_id` rather than `zone`."""
    return _read_by_column(form, form.base_fields)


def read_changed_values(form: forms.ModelForm) -> dict[str, object]:
    """Like `read_all_values`, but only of the changed fields."""
    return _read_by_column(form, form.base_fields.keys() & set(form.changed_data))


def _read_by_column(form: forms.ModelForm, names: Iterable[str]) -> dict[str, object]:
    fields = [form.instance._meta.get_field(name) for name in names]
    return {field.attname: _to_plain(form.cleaned_data[field.name]) for field in fields}


def _to_plain(value: Any) -> object:
    return value.pk if isinstance(value, models.Model) else value


@dataclasses.dataclass
class FormState:
    """What a request's form has to know: what its page showed, why saving was refused, and whether its rows are locked.

    `changes` collects what saving has changed, for the log.
    """

    shown_rows: dict[str, Values] | None = dataclasses.field(default_factory=dict)
    refused: FormRefused | None = None
    locks_rows: bool = False
    changes: list[Change] = dataclasses.field(default_factory=list)


def get_form_state(request: HttpRequest) -> FormState:
    """Return the state that is kept on the request, since Django's admin passes nothing else on to its forms."""
    state: FormState = getattr(request, "form_state", None) or FormState()
    request.form_state = state  # type: ignore[attr-defined]
    return state


_UNITS = {"_cents": "In minor units: 1990 is 19.90.", "_bp": "In basis points: 1900 is 19 %."}


class RuledFields:
    """For model admins and inlines: forms that check `rules` and explain the units of numbers."""

    form = RuledModelForm
    rules: Fields | None = None
    together: Sequence[set[str]] = ()

    def prepare(self, form_class: type[RuledModelForm], request: HttpRequest) -> None:
        """Give the form class the rules, and what the request's page showed and had refused."""
        form_class.rules = self.rules
        required = self.rules.required if self.rules is not None else {}
        for name, field in form_class.base_fields.items():
            # Rules may require a field whose column may be empty.
            if form_class._meta.model._meta.get_field(name).attname in required:
                field.required = True
        form_class.together = self.together
        state = get_form_state(request)
        form_class.refused = state.refused
        form_class.shown_rows = state.shown_rows

    def formfield_for_dbfield(
        self, db_field: models.Field, request: HttpRequest, **kwargs: object
    ) -> forms.Field | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        if field is not None and not field.help_text:
            field.help_text = next((_UNITS[end] for end in _UNITS if db_field.name.endswith(end)), "")
        return field


def lock_to_save(request: HttpRequest, rows: QuerySet) -> QuerySet:
    """Lock the rows if the request saves a form."""
    # Only the rows of the page's own table: PostgreSQL can't lock the nullable side of an outer join.
    return lock(rows, of=("self",)) if is_saving(request) else rows


def is_saving(request: HttpRequest) -> bool:
    """Whether the request saves changes of existing rows, which are then locked."""
    return get_form_state(request).locks_rows


@contextmanager
def attach_refusal_to(form: forms.ModelForm) -> Iterator[None]:
    """Turn a refusal inside the block into `FormRefused` for this form."""
    try:
        yield
    except (Refusal, DatabaseError) as error:
        raise FormRefused(refusal_of(error), prefix=form.prefix) from error


def refusal_of(error: Refusal | DatabaseError) -> Refusal:
    """Return the refusal to show for a failed write. Raises the error again if it is a bug."""
    if isinstance(error, Refusal):
        return error
    refusal = refusal_from_database(error)
    if refusal is not None:
        return refusal
    # A constraint that no refusal names. Its name may help staff to correct their data.
    if isinstance(error, IntegrityError):
        return ValidationFailed(f"The shop's data doesn't allow this: {constraint_of(error)}.")
    # Such as a number that is too large for its column.
    if isinstance(error, DataError):
        return ValidationFailed("One of the values can't be stored.")
    raise error
