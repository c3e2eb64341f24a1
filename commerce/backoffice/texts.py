"""Undo what browsers do to texts.

Browsers end every line with CR LF, and drop line breaks in inputs of a single line (HTML standard, "constructing the
entry list" and "value sanitization algorithm"). All forms get texts with plain newlines, because the setting
`FORM_RENDERER` names `Renderer`.
"""

import re

from django import forms
from django.forms.renderers import DjangoTemplates

_LINE_BREAK = re.compile(r"\r\n?")
_ONE_LINE = {"text", "search", "tel", "url", "email", "password", "number"}


def normalise_newlines(text: str) -> str:
    return _LINE_BREAK.sub("\n", text)


def is_text_input(widget: forms.Widget) -> bool:
    return isinstance(widget, forms.Textarea) or _has_one_line(widget)


def render_unedited_text(field: forms.Field, value: object) -> str:
    """Return what a browser sends for a text input that shows `value`, if nobody edits it."""
    # A browser knows only what the widget has rendered, and sends an empty text where there was nothing.
    shown = field.widget.format_value(field.prepare_value(value))
    text = normalise_newlines("" if shown is None else str(shown))
    return text.replace("\n", "") if _has_one_line(field.widget) else text


def _has_one_line(widget: forms.Widget) -> bool:
    return isinstance(widget, forms.widgets.Input) and widget.input_type in _ONE_LINE


class PlainTextField(forms.BoundField):
    @property
    def data(self) -> object:
        data = super().data
        return normalise_newlines(data) if isinstance(data, str) else data


class Renderer(DjangoTemplates):
    bound_field_class = PlainTextField
