"""The settings of an account as a form: one field for each name of the registry."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from .registry import SETTINGS, Choice, Flag, Integer, Setting, Value, installation_value


class SettingsForm(forms.Form):
    """The account's own values; where a field is left empty, the installation's value holds."""

    def __init__(self, own: dict[str, Value], data: Any = None) -> None:
        initial = {name: _as_typed(value) for name, value in own.items()}
        super().__init__(data, initial=initial)
        self.fields |= {name: _field(setting) for name, setting in SETTINGS.items()}


def _as_typed(value: Value) -> str | int:
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
