"""Form fields for measures, and which measure each column of a table has."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.db import models
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from .display import StrOrPromise
from .locales import current_locale
from .measures import Measure, Money, NotReadable, Percentage, Weight
from .names import title_without_unit
from .wordings import translate

# Returns the value of another field of the same row: as typed, as shown, or as stored. References are ids.
Read = Callable[[str], Any]
# Returns the measure of a column, which may depend on other columns; None for one that has none.
FindMeasure = Callable[[str, Read], Measure | None]

_SUFFIXES = ("_cents", "_bp", "_grams")


def find_measure(name: str, read: Read) -> Measure | None:
    """Return the measure of a column by its name: cents of the row's currency, basis points, or grams."""
    if name.endswith("_cents"):
        return Money(clean_currency(read("currency")))
    if name.endswith("_bp"):
        return Percentage()
    return Weight() if name.endswith("_grams") else None


def is_measured(name: str) -> bool:
    """Whether `find_measure` has a measure for a column of this name."""
    return name.endswith(_SUFFIXES)


def clean_currency(text: str | None) -> str:
    """Return a currency's code as it is stored; empty if there is none."""
    return (text or "").strip().upper()


def title_measure(column: models.Field) -> StrOrPromise:
    """Return what a column is called in the back office: without the unit that is stored, which nobody sees."""
    return (
        gettext_lazy(title_without_unit(column))
        if is_measured(column.name)
        else capfirst(column.verbose_name)
    )


class MeasureField(forms.Field):
    """An input for an integer that is written as a measure, such as cents as "12.50".

    A form whose measures depend on other fields sets `measure`, which reads the sent text, and `shown`, which wrote the
    value on the page.
    """

    widget = UnfoldAdminTextInputWidget

    def __init__(
        self, *, measure: Measure, min_value: int | None = None, max_value: int | None = None, **options: Any
    ) -> None:
        self.measure = self.shown = measure
        self.min_value, self.max_value = min_value, max_value
        super().__init__(**options)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, str]:
        # Autocompletion would offer amounts typed into other fields.
        return {"autocomplete": "off"}

    def prepare_value(self, value: object) -> object:
        # Text is what somebody has sent.
        return self.shown.render(value, current_locale()) if isinstance(value, int) else value

    def to_python(self, value: object) -> int | None:
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        try:
            return self.measure.parse(str(value), current_locale())
        except NotReadable as refused:
            raise forms.ValidationError(str(refused), code="invalid") from None

    def validate(self, value: int | None) -> None:
        super().validate(value)
        if value is None:
            return
        if self.min_value is not None and value < self.min_value:
            raise forms.ValidationError(self.describe_bound("min_value", self.min_value), code="min_value")
        if self.max_value is not None and value > self.max_value:
            raise forms.ValidationError(self.describe_bound("max_value", self.max_value), code="max_value")

    def describe(self, detail: str) -> str:
        """Return a rule's message in the reader's language, with the bound that it names written as a measure."""
        return translate(detail, self._show)

    def describe_bound(self, code: str, bound: int) -> str:
        lower, upper = _("Must be at least %(bound)s."), _("Must be at most %(bound)s.")
        return (lower if code == "min_value" else upper) % {"bound": self._show(bound)}

    def _show(self, value: object) -> object:
        return self.measure.format(value, current_locale()) if isinstance(value, int) else value

    def has_changed(self, initial: int | None, data: Any) -> bool:
        """Whether the sent text means something else than `initial`.

        With another currency, the same text may mean another number of cents.
        """
        shown = "" if initial is None else self.shown.render(initial, current_locale())
        if self.disabled or (self.measure == self.shown and shown == (data or "").strip()):
            return False
        try:
            return self.to_python(data) != initial
        except forms.ValidationError:
            return True
