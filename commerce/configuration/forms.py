"""An account's settings as a form, with a field for each name in the registry."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from commerce.backoffice.display import StrOrPromise
from commerce.backoffice.shown import MergingForm, Values

from .registry import MASK, Choice, Flag, Integer, Setting, Value, installation_value, known_settings


class SettingsForm(MergingForm, forms.Form):
    """The account's own values. For an empty field, the installation's value applies.

    `fingerprints` are the values, and of secrets the time of their last change.
    """

    def __init__(
        self, fingerprints: Values, data: QueryDict | None = None, shown: Values | None = None
    ) -> None:
        known = known_settings()
        self.together = [{setting.name, *setting.sent_by} for setting in known.values() if setting.sent_by]
        fingerprints = {name: _to_input(fingerprints.get(name)) for name in known}
        super().__init__(data, initial=_mask_secrets(fingerprints if shown is None else shown))
        self.fields |= {name: _make_field(setting, fingerprints[name]) for name, setting in known.items()}
        self.merge(shown=shown, stored=_mask_secrets(fingerprints), fingerprints=fingerprints)

    def format_stored_value(self, name: str) -> str:
        return str(self.stored[name] or "")


def find_setting_title(name: str) -> StrOrPromise | None:
    """Return what people call a setting; None for other names."""
    setting = known_settings().get(name)
    return gettext_lazy(setting.title or setting.name) if setting else None


def _mask_secrets(fingerprints: Values) -> dict[str, object]:
    known = known_settings()
    return {name: MASK if value and known[name].is_secret else value for name, value in fingerprints.items()}


def _to_input(value: Value | None) -> str | int | None:
    return str(value).lower() if isinstance(value, bool) else value


def _make_field(setting: Setting, stored: str | int | None) -> forms.Field:
    shared: dict[str, Any] = {
        "label": find_setting_title(setting.name),
        # With the name that the API and the documentation use.
        "help_text": format_html("{} <code>{}</code>", gettext(setting.help), setting.name),
        "required": False,
    }
    if setting.is_secret:
        # Shows the mask, so that staff see whether there is a secret. Sent back, it leaves the secret as it is.
        widget = UnfoldAdminPasswordWidget(render_value=True)
        return forms.CharField(empty_value=None, widget=widget, **shared)
    value = _to_input(installation_value(setting.name))
    inherited = _("The installation's: %(value)s") % {"value": _title_value(setting, value)}
    # No checkbox: a flag can be true, false, or the installation's.
    if isinstance(setting, Flag):
        return _make_choice_field(
            setting, ("true", "false"), inherited, coerce=lambda text: text == "true", **shared
        )
    if isinstance(setting, Choice):
        # A stored value stays until staff change it, even if it can't be chosen any more.
        kept = [value for value in setting.choices if value == stored]
        values = tuple(dict.fromkeys([*kept, *setting.list_own_choices()]))
        return _make_choice_field(setting, values, inherited, **shared)
    if isinstance(setting, Integer):
        widget = UnfoldAdminIntegerFieldWidget(attrs={"placeholder": inherited})
        return forms.IntegerField(
            min_value=setting.min_value, max_value=setting.max_value, widget=widget, **shared
        )
    widget = UnfoldAdminTextInputWidget(attrs={"placeholder": inherited})
    return forms.CharField(empty_value=None, widget=widget, **shared)


def _title_value(setting: Setting, value: str | int | None) -> str | int:
    """Return what people call a value of a setting."""
    if value is None or value == "":
        return "-"
    labels: Mapping[str, str] = setting.labels if isinstance(setting, Choice) else {}
    if isinstance(setting, Flag):
        labels = {"true": "yes", "false": "no"}
    return gettext(labels[value]) if isinstance(value, str) and value in labels else value


def _make_choice_field(
    setting: Setting, values: tuple[str, ...], inherited: str, **options: Any
) -> forms.Field:
    choices = [("", inherited), *((value, _title_value(setting, value)) for value in values)]
    return forms.TypedChoiceField(
        choices=choices, empty_value=None, widget=UnfoldAdminSelectWidget, **options
    )
