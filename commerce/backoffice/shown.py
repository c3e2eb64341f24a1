"""Save only the fields that staff edited.

A page may have been open for an hour when it is saved. It carries a signed token with the values that it showed. A field
counts as edited if the submitted value differs from what a browser sends for the shown value; all other fields keep their
stored values. An edit of a field that somebody else changed meanwhile is refused, showing the current value; saving again
overwrites it. The rows are locked during the comparison and the save.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, cast

from django import forms
from django.core import signing
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from .display import preformatted
from .texts import PlainTextField, is_text_input, render_unedited_text

FIELD = "_shown"
_SALT = "commerce.backoffice.shown"
_OPEN_AGAIN = "Nothing was saved: this page is too old or incomplete. Open it again and repeat your changes."

# In characters. A longer value is shown below the message instead of inside it.
_MAX_QUOTED = 100

# JSON values by field.
Values = dict[str, Any]


def sign_shown_values(values: dict[str, Values]) -> str:
    """Sign the values that a page shows, by row. Signed, because they decide which fields are written."""
    return signing.dumps(values, salt=_SALT, compress=True)


def read_shown_values(request: HttpRequest) -> dict[str, Values] | None:
    """Return the values that the submitted page showed, by row; empty if the token can't be read.

    None without a token, as from a script: its values are compared with the stored ones.
    """
    token = request.POST.get(FIELD)
    if token is None:
        return None
    try:
        return signing.loads(token, salt=_SALT)
    except signing.BadSignature:
        return {}


def as_json(value: object) -> Any:
    return json.loads(json.dumps(value, default=str))


class MergedField(PlainTextField):
    """Shows the current value instead of an outdated one that staff didn't edit."""

    form: "MergingForm"

    def value(self) -> object:
        if self.name in self.form.refreshed:
            return self.field.prepare_value(self.form.now[self.name])
        return super().value()

    def differs_from(self, value: object) -> bool:
        """Whether the submitted value differs from what an unedited page showing `value` would send."""
        if isinstance(value, datetime) and not self.field.widget.supports_microseconds:
            value = value.replace(microsecond=0)
        if not is_text_input(self.field.widget):
            return self.field.has_changed(value, self.data)
        text = render_unedited_text(self.field, value)
        if text == self.data:
            return False
        try:
            shown = self.field.to_python(text)
        except forms.ValidationError:
            return True
        return self.field.has_changed(shown, self.data)

    def _has_changed(self) -> bool:
        if self.field.show_hidden_initial:
            return super()._has_changed()  # type: ignore[misc]
        return self.differs_from(self.initial)


class MergingForm(forms.BaseForm):
    """A form that changes only edited fields. `merge` tells it the shown and the stored values."""

    bound_field_class = MergedField
    # Groups of fields that depend on each other, such as an amount and its currency: if somebody else changed one of
    # them, an edit of another is refused once, so that staff see the change.
    together: Sequence[set[str]] = ()

    is_merged = False
    outdated: frozenset[str] = frozenset()

    def merge(self, *, shown: Values | None, now: dict[str, Any], fingerprints: Values) -> None:
        """Compare the `shown` values with `fingerprints`, which stand for the values stored `now`.

        A mark is the value as JSON; for a secret, it is something that changes together with it.
        """
        self.is_merged = True
        self.ignore_hidden_inputs()
        self.is_from_unknown_page = shown is None
        self.now = now
        self.fingerprints = fingerprints
        if shown is not None:
            self.outdated = frozenset(name for name in fingerprints if shown.get(name) != fingerprints[name])

    def ignore_hidden_inputs(self) -> None:
        """Ignore Django's hidden initial values: the token alone says what was shown."""
        for field in self.fields.values():
            field.show_hidden_initial = False

    @cached_property
    def changed_data(self) -> list[str]:
        """The edited fields, without those that somebody else set to the same value."""
        edited = super().changed_data
        return [name for name in edited if name not in self.outdated or self._differs_from_now(name)]

    @cached_property
    def refreshed(self) -> frozenset[str]:
        return self.outdated - set(self.changed_data) if self.is_bound else frozenset()

    def _differs_from_now(self, name: str) -> bool:
        return cast("MergedField", self[name]).differs_from(self.now[name])

    def _clean_fields(self) -> None:
        super()._clean_fields()  # type: ignore[misc]
        if not self.is_merged:
            return
        if self.is_from_unknown_page:
            self.add_error(None, _OPEN_AGAIN)
        self._keep_current()
        self._refuse_conflicts()

    def _keep_current(self) -> None:
        """Use the stored values of unedited fields: outdated ones, and texts, which browsers may send back altered."""
        for name in self.fingerprints.keys() - set(self.changed_data):
            if name in self.outdated or is_text_input(self.fields[name].widget):
                self.errors.pop(name, None)
                self.cleaned_data[name] = self.current_value(name)

    def _refuse_conflicts(self) -> None:
        for name in self.changed_data:
            if others := self._find_outdated_with(name):
                self.add_error(name, self._word_conflict(others))

    def _word_conflict(self, names: list[str]) -> str:
        """Word the message about a conflict, followed by the values that are too long for a sentence."""
        changes = " and ".join(self._word_change(name) for name in names)
        sentence = f"After you opened this page, somebody else {changes}. Check and save again."
        long = [text for name in names if _is_long(text := self.text_of_current(name))]
        if not long:
            return sentence
        below = format_html_join("", "{}", ((preformatted(text),) for text in long))
        return format_html("{}{}", sentence, below)

    def _find_outdated_with(self, name: str) -> list[str]:
        tied = {name}.union(*(group for group in self.together if name in group))
        return sorted(tied & self.outdated)

    def _word_change(self, name: str) -> str:
        text = self.text_of_current(name)
        label = self[name].label
        if _is_long(text):
            return f"changed “{label}” to the text below"
        return f"changed “{label}” to “{text}”" if text else f"emptied “{label}”"

    def current_value(self, name: str) -> object:
        """Return the stored value in the form that cleaning the field would give."""
        return self.now[name]

    def text_of_current(self, name: str) -> str:
        raise NotImplementedError


def _is_long(text: str) -> bool:
    return len(text) > _MAX_QUOTED or len(text.splitlines()) > 1
