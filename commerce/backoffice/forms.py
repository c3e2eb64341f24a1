"""Forms that check the rules of the operations, and show refusals of operations and the database."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, cast

from django import forms
from django.contrib.admin.utils import display_for_field
from django.db import DatabaseError, DataError, IntegrityError, models
from django.db.models import QuerySet
from django.forms.utils import ErrorDict
from django.http import HttpRequest
from django.utils.translation import gettext as _

from commerce.backoffice.wordings import explain, translate
from commerce.database_errors import refusal_from_database
from commerce.errors import Refusal, ValidationFailed, constraint_of
from commerce.rules import Fields
from commerce.tenancy.locks import lock

from .audit import Change
from .locales import current_locale
from .measure_fields import FindMeasure, MeasureField, Read, find_measure
from .measures import Measure
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
    find_measure: FindMeasure = staticmethod(find_measure)
    refused: FormRefused | None = None
    # The values that the submitted page showed, by row; None if the page sent no token.
    shown_rows: dict[str, Values] | None = {}
    # Whether the row was deleted after the page was opened.
    is_deleted = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is not None:
            self._compare_with_stored_row()
        for name, field in self.fields.items():
            if isinstance(field, MeasureField):
                field.measure = field.shown = self.require_measure(name, self._read_shown)
                if self.is_bound:
                    field.measure = self.require_measure(name, self._read_sent)

    def _compare_with_stored_row(self) -> None:
        self.row = copy(self.instance)
        self.key = make_row_key(self.instance, self.instance.pk)
        stored = {name: self.initial[name] for name in self.fields if name in self.initial}
        fingerprints = self.make_fingerprints(stored)
        # A script that sends no token is taken to have seen what is stored.
        shown_rows = {self.key: fingerprints} if self.shown_rows is None else self.shown_rows
        shown = shown_rows.get(self.key) if self.is_bound else None
        # Django counts a field as changed if it differs from `initial`, which must be what the page showed.
        self.initial = {**self.initial, **self.read_fingerprints(shown or {})}
        self.merge(shown=shown, stored=stored, fingerprints=fingerprints)

    def mark_as_deleted(self, pk: str) -> None:
        """Mark the form's row as deleted meanwhile: nothing is saved, and an edit is refused."""
        # Django doesn't validate an unedited form that may be empty.
        self.is_deleted = self.empty_permitted = True
        self.ignore_hidden_inputs()
        self.key = make_row_key(self.instance, pk)
        self.fingerprints = (self.shown_rows or {}).get(self.key, {})
        self.initial = self.read_fingerprints(self.fingerprints) | {self.instance._meta.pk.name: pk}

    def full_clean(self) -> None:
        super().full_clean()
        if self.is_deleted and self.has_changed():
            # Errors of its fields don't matter any more.
            self._errors = ErrorDict()
            self.add_error(None, _("Somebody else deleted this row. Mark it for deletion, then save again."))

    def require_measure(self, name: str, read: Read) -> Measure:
        measure = self.find_measure(name, read)
        if measure is None:
            raise TypeError(f"{name} has no measure.")
        return measure

    def _read_shown(self, name: str) -> Any:
        return self.initial[name] if name in self.initial else read_column(self.instance, name)

    def _read_sent(self, name: str) -> Any:
        is_sent = self.is_bound and name in self.fields and not self.fields[name].disabled
        return self[name].data if is_sent else self._read_shown(name)

    def read_stored_value(self, name: str) -> object:
        return getattr(self.row, name)

    def render_stored_value(self, name: str) -> object:
        value = self.stored[name]
        measure = self.find_measure(name, partial(read_column, self.row))
        if measure is None or value is None:
            return super().render_stored_value(name)
        return measure.render(value, current_locale())

    def format_stored_value(self, name: str) -> str:
        value = getattr(self.row, name)
        measure = self.find_measure(name, partial(read_column, self.row))
        if measure is not None:
            return "" if value is None else measure.format(value, current_locale())
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(display_for_field(value, self.row._meta.get_field(name), ""))

    def make_fingerprints(self, stored: Mapping[str, object]) -> Values:
        """Return the values as the page's token carries them."""
        return cast("Values", to_json(stored))

    def read_fingerprints(self, values: Values) -> dict[str, Any]:
        """Return what the token says that the page showed."""
        model = self.instance._meta
        return {name: model.get_field(name).to_python(values[name]) for name in self.fields if name in values}

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or self.cleaned_data
        if self.rules is not None:
            # Empty fields are left out: Django has checked which may be empty, see `RuledFields.prepare`.
            filled_in = {
                self._get_column(name): _to_plain(self.cleaned_data[name])
                for name in list_columns(self) & self.cleaned_data.keys()
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
        form.add_error(None, forms.ValidationError(explain(refusal), code=refusal.code))
    for error in refusal.errors:
        column, _dot, rest = error.field.partition(".")
        detail = translate(error.detail)
        detail = f"{rest}: {detail}" if rest else detail
        field = next((name for name in form.fields if column in {name, f"{name}_id"}), None)
        named = named or field is not None
        if field is None:
            text = f"{error.field}: {translate(error.detail)}" if error.field else detail
            form.add_error(None, forms.ValidationError(text, code=error.code))
        # The form may have found the same error before the operation did.
        elif field not in form.errors:
            shown_as = form.fields[field]
            if isinstance(shown_as, MeasureField):
                is_missing = error.code == "required"
                detail = (
                    str(shown_as.error_messages["required"])
                    if is_missing
                    else shown_as.describe(error.detail)
                )
            form.add_error(field, forms.ValidationError(detail, code=error.code))
    return named


def make_row_key(row: models.Model, pk: object) -> str:
    """Return the key of a row in the page's token."""
    return f"{row._meta.label_lower}/{pk}"


def read_all_values(form: forms.ModelForm) -> dict[str, object]:
    """Return the cleaned values by column, as operations take them: `zone_id` rather than `zone`."""
    return _read_by_column(form, list_columns(form))


def read_changed_values(form: forms.ModelForm) -> dict[str, object]:
    """Like `read_all_values`, but only of the changed fields."""
    return _read_by_column(form, list_columns(form) & set(form.changed_data))


def list_columns(form: forms.ModelForm) -> set[str]:
    """Return the names of the fields that are columns of the table. A form may have others besides."""
    return form.base_fields.keys() & {field.name for field in form._meta.model._meta.fields}


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


def read_column(row: models.Model, name: str) -> Any:
    """Return the value of a column, and of a reference the id."""
    return getattr(row, get_column(type(row), name).attname)


def get_column(model: type[models.Model], name: str) -> models.Field:
    return cast("models.Field", model._meta.get_field(name))


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
        return ValidationFailed(
            _("The shop's data doesn't allow this: %(constraint)s.") % {"constraint": constraint_of(error)}
        )
    # Such as a number that is too large for its column.
    if isinstance(error, DataError):
        return ValidationFailed(_("One of the values can't be stored."))
    raise error
