"""Form fields for the mechanics' configs, derived from their descriptions: an input for each part instead of JSON."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from commerce.backoffice.display import StrOrPromise
from commerce.backoffice.locales import current_locale
from commerce.backoffice.measures import NotReadable, count_digits
from commerce.backoffice.picks import Choices, PickField, list_ids

from .amounts import MONEY_MODES, choose_measure
from .evaluation import Choice, Group, Ids, Mechanic, Number, Part, Rows

_EMPTY: tuple[Any, ...] = (None, "", [])
Path = tuple[str | int, ...]


def list_inputs(group: Group, path: Path = ()) -> Iterator[tuple[Path, Number | Choice | Ids]]:
    """Yield each input of a config with its path in the JSON, for as many rows as there may be."""
    for part in group.parts:
        below = (*path, part.name)
        match part:
            case Group():
                yield from list_inputs(part, below)
            case Rows():
                for index in range(part.max_length):
                    yield from list_inputs(part.row, (*below, index))
            case _:
                yield below, part


def _make_form_field(part: Number | Choice | Ids) -> forms.Field:
    match part:
        case Number() if part.is_value:
            # Read by `ConfigField`, as its meaning depends on the mode beside it.
            return forms.CharField(
                label=gettext_lazy(part.label), required=False, widget=UnfoldAdminTextInputWidget()
            )
        case Number():
            return forms.IntegerField(
                label=gettext_lazy(part.label), required=False, widget=UnfoldAdminIntegerFieldWidget()
            )
        case Ids():
            return PickField(label=gettext_lazy(part.label))
    choices = label_choices(part)
    if not part.labels:
        choices = [("", gettext_lazy("---------")), *choices]
    return forms.ChoiceField(
        label=gettext_lazy(part.label),
        required=False,
        choices=choices,
        widget=UnfoldAdminSelectWidget(choices=choices),
    )


def label_choices(part: Choice) -> list[tuple[str, StrOrPromise]]:
    """Return the values of a choice with what people call them."""
    labels = part.labels or [value.replace("_", " ").title() for value in part.values]
    return [*zip(part.values, map(gettext_lazy, labels), strict=True)]


def find_mode_path(path: Path) -> Path:
    """Return the place of the mode that says what the value at `path` counts."""
    return (*path[:-1], "value_mode")


def _has_amounts(config: Any) -> bool:
    if isinstance(config, list):
        return any(map(_has_amounts, config))
    if not isinstance(config, dict):
        return False
    is_amount = config.get("value_mode") in MONEY_MODES and config.get("value_amount") is not None
    return is_amount or any(map(_has_amounts, config.values()))


def _format_value(part: Number | Choice | Ids, value: Any) -> str | list[str]:
    """Return what an input shows for a value. A choice with labels is never empty."""
    if isinstance(part, Ids):
        return list(map(str, value or []))
    if value is None:
        return part.values[0] if isinstance(part, Choice) and part.labels else ""
    return str(value)


def read_at(config: Any, path: Path) -> Any:
    """Return the value at a path in the JSON; None if any step of the path is missing."""
    for step in path:
        if isinstance(step, int):
            config = config[step] if config and step < len(config) else None
        else:
            config = (config or {}).get(step)
    return config


def _build_config(parts: Sequence[Part], values: dict[Path, Any], path: Path = ()) -> dict[str, Any]:
    """Build the JSON of what was filled in, without missing values and empty rows."""
    config: dict[str, Any] = {}
    for part in parts:
        below = (*path, part.name)
        match part:
            case Group():
                config[part.name] = _build_config(part.parts, values, below)
            case Rows():
                rows = (
                    _build_config(part.row.parts, values, (*below, index)) for index in range(part.max_length)
                )
                config[part.name] = [row for row in rows if row]
            case Choice() if part.labels:
                config[part.name] = values[below] or part.values[0]
            case _ if values[below] not in _EMPTY:
                config[part.name] = values[below]
    return config


class ConfigWidget(forms.MultiWidget):
    """The inputs of a config: first those that appear once, then rows. Empty rows are hidden until staff add them.

    For the column that types share, `sections` are the types, and the page shows the inputs of the chosen one.
    """

    template_name = "discounts/config.html"

    def __init__(self, group: Group, parts: Sequence[forms.Field], sections: Sequence[str] = ()) -> None:
        self.group = group
        self.sections = sections
        self.paths = [*list_inputs(group)]
        self.labels = [part.label for part in parts]
        # The currency of the config that the page shows.
        self.find_currency: Callable[[], str] = str
        super().__init__([part.widget for part in parts])

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        # Unfold binds a widget to a variable of the page by this attribute, which all parts would inherit.
        self.attrs.pop("x-model.fill", None)
        context = super().get_context(name, value, attrs)
        single: list[Any] = []
        lists: dict[Path, dict[str, Any]] = {}
        subwidgets = context["widget"]["subwidgets"]
        for part, label, (path, _) in zip(subwidgets, self.labels, self.paths, strict=True):
            section = path[0] if self.sections else None
            part |= {"label": label, "section": section}
            index = next((place for place, step in enumerate(path) if isinstance(step, int)), None)
            if index is None:
                single.append(part)
                continue
            found = lists.setdefault(path[:index], {"rows": {}, "section": section})
            found["rows"].setdefault(path[index], []).append(part)
        labels = dict(_list_add_labels(self.group))
        for path, found in lists.items():
            rows = [*found["rows"].values()]
            found |= {"rows": rows, "shown": _count_shown_rows(rows), "add_label": labels[path]}
        context["widget"] |= {"single": single, "lists": [*lists.values()]}
        return context

    def list_ids(self, kind: str, value: Any) -> Iterator[int]:
        """Yield the ids of this kind in a value, as stored or as sent."""
        shown = value if isinstance(value, list) else self.decompress(value)
        for (_path, part), ids in zip(self.paths, shown, strict=True):
            if isinstance(part, Ids) and part.name == kind:
                yield from list_ids(ids)

    def decompress(self, value: dict[str, Any] | None) -> list[str | list[str]]:
        # A single type's config is stored as it is, while the inputs are described as one section by type.
        shown = {self.sections[0]: value} if len(self.sections) == 1 else value
        return [self._format_part(shown, path, part) for path, part in self.paths]

    def _format_part(self, config: Any, path: Path, part: Number | Choice | Ids) -> str | list[str]:
        value = read_at(config, path)
        if value is None or not (isinstance(part, Number) and part.is_value):
            return _format_value(part, value)
        measure = choose_measure(read_at(config, find_mode_path(path)), self.find_currency)
        return measure.render(value, current_locale())


def _list_add_labels(group: Group, path: Path = ()) -> Iterator[tuple[Path, str]]:
    for part in group.parts:
        if isinstance(part, Group):
            yield from _list_add_labels(part, (*path, part.name))
        elif isinstance(part, Rows):
            yield (*path, part.name), gettext(part.add_label)


def _count_shown_rows(rows: list[list[Any]]) -> int:
    filled = [
        index
        for index, row in enumerate(rows)
        if any(part["value"] not in (None, "", [], [""]) for part in row)
    ]
    # Up to the last row with a value, and at least one for a first entry.
    return max(filled, default=0) + 1


class ConfigField(forms.MultiValueField):
    """A config from several inputs; its rule says what is missing or wrong."""

    def __init__(
        self, group: Group, *, label: StrOrPromise, help_text: StrOrPromise = "", sections: Sequence[str] = ()
    ) -> None:
        self.group = group
        self.sections = sections
        self.paths = [*list_inputs(group)]
        # The currency that was sent with the config.
        self.find_currency: Callable[[], str] = str
        parts = [_make_form_field(part) for _, part in self.paths]
        widget = ConfigWidget(group, parts, sections)
        super().__init__(
            parts, widget=widget, required=False, require_all_fields=False, label=label, help_text=help_text
        )

    def choose_from(self, choices: Mapping[str, Choices]) -> None:
        """Give the pick lists what they show, by kind."""
        for (_path, part), field, widget in zip(self.paths, self.fields, self.widget.widgets, strict=True):
            if isinstance(field, PickField):
                field.choose_from(choices[part.name])
                widget.choices = choices[part.name]

    def has_changed(self, initial: Any, data: list[Any] | None) -> bool:
        if self.disabled:
            return False
        shown = self.widget.decompress(initial)
        sent = data or [""] * len(shown)
        # In a currency with other decimals, the same text means another number of cents.
        return any(
            field.has_changed(before, now) if isinstance(field, PickField) else before != (now or "")
            for field, before, now in zip(self.fields, shown, sent, strict=True)
        ) or (
            _has_amounts(initial)
            and count_digits(self.widget.find_currency()) != count_digits(self.find_currency())
        )

    def compress(self, values: list[Any]) -> dict[str, Any] | None:
        # Django calls this with an empty list if every input is empty.
        given = {path: value for (path, _), value in zip(self.paths, values, strict=bool(values))}
        for path, part in self.paths:
            if isinstance(part, Number) and part.is_value and given.get(path) not in _EMPTY:
                given[path] = self._read_value(part, given[path], given.get(find_mode_path(path)))
        # A preselected choice doesn't show that somebody has filled anything in.
        is_filled_in = any(
            given.get(path) not in _EMPTY
            for path, part in self.paths
            if not (isinstance(part, Choice) and part.labels)
        )
        if not is_filled_in:
            return None
        config = _build_config(self.group.parts, given)
        return config[self.sections[0]] if len(self.sections) == 1 else config

    def _read_value(self, part: Number, text: str, value_mode: str | None) -> int:
        try:
            return choose_measure(value_mode, self.find_currency).parse(text, current_locale())
        except NotReadable as refused:
            raise forms.ValidationError(f"{gettext(part.label)}: {refused}", code="invalid") from None


def make_shared_config_field(mechanics: Sequence[Mechanic]) -> ConfigField:
    """Make the field of the column that types share. If there are several types, its value has the configs by type."""
    parts = tuple(replace(each.config, name=each.type) for each in mechanics if each.config)
    help_text = " ".join(gettext(each.config_help) for each in mechanics)
    sections = [each.type for each in mechanics]
    return ConfigField(
        Group("", parts), label=gettext_lazy("Settings"), help_text=help_text, sections=sections
    )
