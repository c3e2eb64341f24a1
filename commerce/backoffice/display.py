"""Format values for staff."""

import json
from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from babel.numbers import format_decimal
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from unfold.decorators import display

from commerce.formats import as_text

from .locales import current_locale
from .measures import Money, Percentage, Weight

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise as StrOrPromise
else:
    # Text, or text that is translated when it is shown.
    StrOrPromise = str | Promise


def format_money(cents: int | None, currency: str) -> str:
    """Format an amount in minor units for the reader: `format_money(1990, "EUR")` is `€19.90` in English."""
    return "-" if cents is None else Money(currency).format(cents, current_locale())


def format_percentage(basis_points: int) -> str:
    """Format basis points for the reader: `format_percentage(750)` is `7.5 %` in English."""
    return Percentage().format(basis_points, current_locale())


def format_weight(grams: int | None) -> str:
    """Format a weight in grams for the reader: `format_weight(1250)` is `1.25 kg` in English."""
    return "-" if grams is None else Weight().format(grams, current_locale())


def format_count(number: int) -> str:
    """Format a number for the reader: `format_count(1234)` is `1,234` in English."""
    return format_decimal(number, locale=current_locale())


def format_share(part: int, whole: int) -> str:
    """Format a part of a whole for the reader, with one decimal: `format_share(1, 3)` is `33.3 %` in English."""
    if not whole:
        return "-"
    return f"{format_decimal(100 * part / whole, format='0.0', locale=current_locale())} %"


def format_time(at: datetime) -> str:
    """Format a time in the shop's time zone, which is named."""
    local = timezone.localtime(at)
    return f"{date_format(local, 'DATETIME_FORMAT')} {local.tzname()}"


def money_column(field: str, title: StrOrPromise, *, currency: str = "currency") -> Callable[[object], str]:
    """Return a column for a field of cents; `currency` is the path to its currency, such as `order.currency`."""
    currency_of = attrgetter(currency)

    @display(description=title, ordering=field)
    def column(row: object) -> str:
        return format_money(getattr(row, field), currency_of(row))

    return column


def rate_column(field: str, title: StrOrPromise) -> Callable[[object], str]:
    """Return a column that shows a field of basis points as a percentage."""

    @display(description=title, ordering=field)
    def column(row: object) -> str:
        return format_percentage(getattr(row, field))

    return column


def weight_column(field: str, title: StrOrPromise) -> Callable[[object], str]:
    """Return a column that shows a field of grams."""

    @display(description=title, ordering=field)
    def column(row: object) -> str:
        return format_weight(getattr(row, field))

    return column


# Fields in one tuple share a line.
_ADDRESS_LINES = [
    ("name",),
    ("first_name", "last_name"),
    ("company",),
    ("address1",),
    ("address2",),
    ("zip", "city"),
    ("province_code", "country_code"),
    ("phone",),
]


def address_column(field: str, title: StrOrPromise) -> Callable[[Any], str]:
    """Return a column that shows an address, or the snapshot of a pickup point, line by line."""

    @display(description=title)
    def column(row: Any) -> str:
        # A pickup point's snapshot is a dataclass, of which this makes a dictionary.
        address = as_text(getattr(row, field)) or {}
        lines = [" ".join(filter(None, map(address.get, names))) for names in _ADDRESS_LINES]
        return format_html_join(mark_safe("<br>"), "{}", ((line,) for line in lines if line)) or "-"

    return column


def render_preformatted(text: str | None) -> str:
    """Show a text with its line breaks, wrapping long lines."""
    style = "max-height: 32rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere"
    # Scrolled by keyboard, too.
    return format_html('<pre tabindex="0" style="{}">{}</pre>', style, text) if text else "-"


def text_column(field: str, title: StrOrPromise) -> Callable[[object], str]:
    """Return a column that shows a text with its line breaks."""

    @display(description=title)
    def column(row: object) -> str:
        return render_preformatted(getattr(row, field))

    return column


def json_column(field: str, title: StrOrPromise) -> Callable[[object], str]:
    """Return a column that shows a JSON document, indented."""

    @display(description=title)
    def column(row: object) -> str:
        return render_preformatted(json.dumps(getattr(row, field), indent=2, ensure_ascii=False))

    return column


LABEL_COLOURS = {
    value: colour
    for colour, values in {
        "success": "active paid fulfilled completed succeeded delivered opened clicked converted",
        "info": "scheduled open pending processing sent address shipping payment requires_action",
        "warning": "exhausted suspended paused draft inactive disabled unfulfilled refunded depleted skipped",
        "danger": "dead failed bounced revoked cancelled expired abandoned archived closed",
    }.items()
    for value in values.split()
}


def label_column(
    field: str, title: StrOrPromise, *, value_of: Callable[[Any], str] | None = None
) -> Callable[[object], tuple[str, str]]:
    """Return a list column that shows a choice as a coloured label; `value_of` may compute it instead of the field."""

    @display(description=title, ordering=field, label=LABEL_COLOURS)
    def column(row: Any) -> tuple[str, str]:
        value = value_of(row) if value_of else getattr(row, field)
        return value, dict(row._meta.get_field(field).flatchoices).get(value, value)

    return column
