"""The editor's forms."""

from collections.abc import Mapping
from typing import Any

import orjson
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from commerce.backoffice.wordings import explain, translate
from commerce.errors import FieldError, Refusal, ValidationFailed
from commerce.rules import locale
from emails.own_templates.queries import CurrentTemplate
from emails.own_templates.rules import (
    CTX,
    MAX_BODY_SOURCE,
    MAX_BODY_TEXT,
    MAX_LINE,
    MAX_NOTE,
    MAX_VERSION,
)
from emails.own_templates.samples import load_sample_ctx
from emails.template_sources import TemplateSource, load_platform_templates

_MAX_CTX = 256 * 1024
_MAX_EXCERPT = 120
_EXTRAS = ("note", "to_email")
_FIXED_PITCH = {"spellcheck": "false", "style": "font-family: ui-monospace, monospace"}


class SourceField(forms.CharField):
    """Text of several lines in a fixed pitch, as it was typed."""

    def __init__(self, *, rows: int, **options: Any) -> None:
        attrs = {"rows": rows, "wrap": "off"} | _FIXED_PITCH
        super().__init__(strip=False, widget=UnfoldAdminTextareaWidget(attrs=attrs), **options)


def _build_line_field(**options: Any) -> forms.CharField:
    return forms.CharField(widget=UnfoldAdminTextInputWidget(attrs=dict(_FIXED_PITCH)), **options)


class TemplateForm(forms.Form):
    """A whole template and the variables to try it with. Until it is submitted, it shows the current template."""

    expected_version = forms.IntegerField(min_value=0, max_value=MAX_VERSION, widget=forms.HiddenInput)
    subject = _build_line_field(label=gettext_lazy("Subject"), max_length=MAX_LINE)
    preheader = _build_line_field(
        label=gettext_lazy("Preheader"),
        max_length=MAX_LINE,
        required=False,
        help_text=gettext_lazy("Shown beside the subject in mail programs."),
    )
    body_source = SourceField(
        rows=28,
        max_length=MAX_BODY_SOURCE,
        label=gettext_lazy("Body"),
        help_text=gettext_lazy("Liquid and MJML."),
    )
    body_text = SourceField(
        rows=12,
        max_length=MAX_BODY_TEXT,
        required=False,
        label=gettext_lazy("Text"),
        help_text=gettext_lazy("For mail programs without HTML. If empty, it is made from the body."),
    )
    ctx = SourceField(
        rows=8,
        max_length=_MAX_CTX,
        label=gettext_lazy("Sample"),
        help_text=gettext_lazy(
            "The variables for the preview and test messages, as JSON. They are not saved."
        ),
    )
    note = forms.CharField(
        label=gettext_lazy("Note"),
        max_length=MAX_NOTE,
        required=False,
        help_text=gettext_lazy("What you changed and why, for the history."),
        widget=UnfoldAdminTextInputWidget,
    )
    to_email = forms.EmailField(
        max_length=254,
        required=False,
        label=gettext_lazy("Send a test to"),
        widget=UnfoldAdminEmailInputWidget,
    )

    def __init__(self, template: CurrentTemplate, data: Mapping[str, object] | None = None) -> None:
        self.template = template
        text = template.text
        sample = load_sample_ctx(template.template_key)
        self.unchanged = {
            "expected_version": template.version,
            "subject": text.subject.strip(),
            "preheader": (text.preheader or "").strip(),
            "body_source": text.body,
            "body_text": text.text or "",
            "ctx": orjson.dumps(sample, option=orjson.OPT_INDENT_2).decode(),
        }
        # As data rather than initial values, so that the form is valid and its template is rendered at once.
        super().__init__(self.unchanged if data is None else data)

    @property
    def is_unsaved(self) -> bool:
        """Whether something was typed that leaving the page would lose."""
        shown = self.unchanged | {"note": ""}
        return any(str(self[name].data or "") != str(value) for name, value in shown.items())

    @property
    def parts(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in _EXTRAS]

    @property
    def extras(self) -> list[forms.BoundField]:
        """The fields that are shown beside the buttons."""
        return [self[name] for name in _EXTRAS]

    def clean_ctx(self) -> dict[str, object]:
        try:
            return CTX(orjson.loads(self.cleaned_data["ctx"]))
        except orjson.JSONDecodeError as error:
            raise forms.ValidationError(
                _("Line %(line)s: this is not JSON.") % {"line": error.lineno}
            ) from error
        except ValidationFailed as refusal:
            raise forms.ValidationError([translate(error.detail) for error in refusal.errors]) from refusal

    def build_draft(self) -> TemplateSource:
        """The template that was entered, in the locale of the page."""
        return TemplateSource(
            template_key=self.template.template_key,
            locale=self.template.locale,
            subject=self.cleaned_data["subject"],
            body=self.cleaned_data["body_source"],
            preheader=self.cleaned_data["preheader"] or None,
            text=self.cleaned_data["body_text"] or None,
        )

    def show(self, refusal: Refusal) -> None:
        """Show a refusal at the field that it names, with the line if it is known."""
        shown = [error for error in refusal.errors if error.field in self.fields]
        for error in shown:
            self.add_error(error.field, self._word_error(error, refusal.extras.get("line")))
        if not shown:
            self.add_error(None, explain(refusal))

    def _word_error(self, error: FieldError, line: object) -> str:
        if not isinstance(line, int):
            return translate(error.detail)
        # Lines of the MJML that Liquid made, which the author doesn't see, so there is no excerpt.
        if error.code == "invalid_mjml":
            return _("Line %(line)s after Liquid: %(reason)s") % {
                "line": line,
                "reason": translate(error.detail),
            }
        # `add_error` removes a field from the cleaned data, so it may be missing.
        lines = str(self.cleaned_data.get(error.field) or "").split("\n")
        excerpt = lines[line - 1].strip()[:_MAX_EXCERPT] if line <= len(lines) else ""
        return _("Line %(line)s, %(excerpt)s: %(reason)s") % {
            "line": line,
            "excerpt": excerpt,
            "reason": translate(error.detail),
        }


class OpenForm(forms.Form):
    """Which template to open, also in a locale that has none yet."""

    template_key = forms.ChoiceField(
        label=gettext_lazy("Template"),
        widget=UnfoldAdminSelectWidget,
        choices=lambda: [(key, key) for key in sorted(load_platform_templates())],
    )
    locale = forms.CharField(
        label=gettext_lazy("Locale"),
        max_length=6,
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": gettext_lazy("de, or de-AT")}),
    )

    def clean_locale(self) -> str:
        try:
            return locale(self.cleaned_data["locale"], may_be_language=True)
        except ValidationFailed as error:
            raise forms.ValidationError(_("A language such as de, or with a region: de-AT.")) from error
