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
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from .display import render_preformatted
from .measure_fields import MeasureField
from .texts import PlainTextField, is_text_input, render_unedited_text

_SALT = "commerce.backoffice.shown"

_TO_VALUE = gettext_lazy(
    "After you opened this page, somebody else changed “%(field)s” to “%(value)s”. Check and save again."
)
_TO_TEXT_BELOW = gettext_lazy(
    "After you opened this page, somebody else changed “%(field)s” to the text below. Check and save again."
)
_EMPTIED = gettext_lazy(
    "After you opened this page, somebody else emptied “%(field)s”. Check and save again."
)
# JSON values by field.
Values = dict[str, Any]


def sign_shown_values(values: dict[str, Values]) -> str:
    """Sign the values that a page shows, by row. They decide which fields are written, so nobody may make them up."""
    return signing.dumps(values, salt=_SALT, compress=True)


def read_shown_values(request: HttpRequest) -> dict[str, Values] | None:
    """Return the values that the submitted page showed, by row; empty if the token can't be read.

    None without a token, as from a script: its values are compared with the stored ones.
    """
    token = request.POST.get("_shown")
    if token is None:
        return None
    try:
        return signing.loads(token, salt=_SALT)
    except signing.BadSignature:
        return {}


def to_json(value: object) -> Any:
    return json.loads(json.dumps(value, default=str))


class MergedField(PlainTextField):
    """Shows the current value instead of an outdated one that staff didn't edit."""

    form: "MergingForm"

    def value(self) -> object:
        if self.name in self.form.refreshed:
            return self.form.render_stored_value(self.name)
        return super().value()

    def differs_from(self, value: object) -> bool:
        """Whether the submitted value differs from what an unedited page showing `value` would send."""
        # The widget shows whole seconds, so the browser sends no more than these.
        if isinstance(value, datetime) and not self.field.widget.supports_microseconds:
            value = value.replace(microsecond=0)
        if not is_text_input(self.field.widget) or isinstance(self.field, MeasureField):
            return self.field.has_changed(value, self.data)
        text = render_unedited_text(self.field, value)
        if text == self.data:
            return False
        # The text differs, but the value may be the same, as with `07` typed over `7`.
        try:
            shown = self.field.to_python(text)
        except forms.ValidationError:
            # The page showed a stored value that the form no longer accepts.
            return True
        return self.field.has_changed(shown, self.data)

    def _has_changed(self) -> bool:
        # Django's own comparison, for forms that aren't merged: it reads the hidden initial value.
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

    def merge(self, *, shown: Values | None, stored: dict[str, Any], fingerprints: Values) -> None:
        """Compare the values that the page has `shown` with `fingerprints` of the `stored` ones.

        A fingerprint is the value as JSON. For a secret, it is something that changes together with it, because the
        page carries it.
        """
        self.is_merged = True
        self.ignore_hidden_inputs()
        self.is_from_unknown_page = shown is None
        self.stored = stored
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
        return [
            name
            for name in edited
            if name not in self.outdated or cast("MergedField", self[name]).differs_from(self.stored[name])
        ]

    @cached_property
    def refreshed(self) -> frozenset[str]:
        """The fields that show the stored value, since staff left them alone."""
        return self.outdated - set(self.changed_data) if self.is_bound else frozenset()

    def _clean_fields(self) -> None:
        # Here rather than in `clean`, which checks the fields together and must find the stored values among them.
        super()._clean_fields()  # type: ignore[misc]
        if not self.is_merged:
            return
        if self.is_from_unknown_page:
            text = _(
                "Nothing was saved: this page is too old or incomplete. Open it again and repeat your changes."
            )
            self.add_error(None, text)
        # Unedited fields keep their stored values: outdated ones, texts, which browsers may send back altered, and times,
        # which may be ambiguous or without their seconds as they are shown.
        for name in self.fingerprints.keys() - set(self.changed_data):
            field = self.fields[name]
            is_sent_as_stored = not is_text_input(field.widget) and not isinstance(
                field, forms.SplitDateTimeField
            )
            if name in self.outdated or not is_sent_as_stored:
                self.errors.pop(name, None)
                self.cleaned_data[name] = self.read_stored_value(name)
        for name in self.changed_data:
            tied = {name}.union(*(group for group in self.together if name in group))
            if outdated := sorted(tied & self.outdated):
                self.add_error(name, self._describe_conflict(outdated))

    def _describe_conflict(self, names: list[str]) -> str:
        """Tell what others changed, in a sentence that is followed by the values that are too long for it."""
        sentences, long_texts = [], []
        for name in names:
            text = self.format_stored_value(name)
            # What is too long to be quoted is shown below the sentences.
            is_long = len(text) > 100 or len(text.splitlines()) > 1
            if is_long:
                long_texts.append((render_preformatted(text),))
            template = _TO_TEXT_BELOW if is_long else _TO_VALUE if text else _EMPTIED
            sentences.append(template % {"field": self[name].label, "value": text})
        sentence = " ".join(sentences)
        if not long_texts:
            return sentence
        return format_html("{}{}", sentence, format_html_join("", "{}", long_texts))

    def read_stored_value(self, name: str) -> object:
        """Return the stored value in the form that cleaning the field would give."""
        return self.stored[name]

    def render_stored_value(self, name: str) -> object:
        """Return the stored value as the input shows it."""
        return self.fields[name].prepare_value(self.stored[name])

    def format_stored_value(self, name: str) -> str:
        raise NotImplementedError
