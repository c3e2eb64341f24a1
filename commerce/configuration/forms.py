"""An account's settings as a form, with a field for each name in the registry."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from commerce.backoffice.shown import MergingForm, Values

from .registry import MASK, Choice, Flag, Integer, Setting, Value, installation_value, known_settings


class SettingsForm(MergingForm, forms.Form):
    """The account's own values. For an empty field, the installation's value applies.

    `fingerprints` are the values, and of secrets the time of their last change.
    """

    def __init__(self, fingerprints: Values, data: Any = None, shown: Values | None = None) -> None:
        known = known_settings()
        self.together = [{setting.name, *setting.sent_by} for setting in known.values() if setting.sent_by]
        fingerprints = {name: _as_typed(fingerprints.get(name)) for name in known}
        super().__init__(data, initial=_masked(fingerprints if shown is None else shown))
        self.fields |= {name: _field(setting) for name, setting in known.items()}
        self.merge(shown=shown, stored=_masked(fingerprints), fingerprints=fingerprints)

    def format_stored_value(self, name: str) -> str:
        return str(self.stored[name] or "")


def _masked(fingerprints: Values) -> dict[str, object]:
    """The values, with secrets masked."""
    known = known_settings()
    return {name: MASK if mark and known[name].is_secret else mark for name, mark in fingerprints.items()}


def _as_typed(value: Value | None) -> str | int | None:
    return str(value).lower() if isinstance(value, bool) else value


def _field(setting: Setting) -> forms.Field:
    shared: dict[str, Any] = {"label": setting.name, "help_text": setting.help, "required": False}
    if setting.is_secret:
        widget = UnfoldAdminPasswordWidget(render_value=True)
        return forms.CharField(empty_value=None, widget=widget, **shared)
    inherited = f"The installation's: {_as_typed(installation_value(setting.name))}"
    if isinstance(setting, Flag):
        return _choice(("true", "false"), inherited, coerce=lambda text: text == "true", **shared)
    if isinstance(setting, Choice):
        return _choice(setting.choices, inherited, **shared)
    if isinstance(setting, Integer):
        widget = UnfoldAdminIntegerFieldWidget(attrs={"placeholder": inherited})
        return forms.IntegerField(
            min_value=setting.min_value, max_value=setting.max_value, widget=widget, **shared
        )
    widget = UnfoldAdminTextInputWidget(attrs={"placeholder": inherited})
    return forms.CharField(empty_value=None, widget=widget, **shared)


def _choice(values: tuple[str, ...], inherited: str, **options: Any) -> forms.Field:
    choices = [("", inherited), *((value, value) for value in values)]
    return forms.TypedChoiceField(
        choices=choices, empty_value=None, widget=UnfoldAdminSelectWidget, **options
    )
